import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { embeddedDatabase, ownDirectory, paidonce } from '../../../test/cli.ts'
import { withDatabases, withPostgres } from '../../../test/database.ts'
import { administer } from '../../../test/postgres.ts'
import { openShop } from '../../../test/stripe-shop.ts'
import { stripeEvents } from '../../providers/stripe/index.ts'
import { hurryDemo } from '../../store/queries/hurry-demo.ts'
import { countDemoBacklog } from '../../store/queries/review-demo.ts'
import { providerNames } from '../sample-makers.ts'
import { badDay } from './bad-day.ts'
import { CAST, castEndpoints, enterAll, type Performer } from './cast/cast.ts'
import { Dice } from './dice.ts'
import type { Receipt } from './receiver.ts'
import {
  type DemoReview,
  grantedTwiceAtReceiver,
  MUST_BE_ZERO,
  review,
  underDifferentKeys,
} from './review.ts'

describe('the bad day', () => {
  let cast: readonly Performer[]
  beforeAll(async () => {
    cast = await enterAll('whsec_of_a_test', () => undefined)
  })
  afterAll(async () => {
    for (const { standIn } of cast) await standIn?.close()
  })

  it('is the same for the same seed, and another for another', () => {
    const mute = cast.filter(({ standIn }) => standIn === null)
    const text = (seed: number) =>
      JSON.stringify(
        badDay(60, seed, 'x', mute).steps.map((step) => {
          if (step.kind !== 'deliver') return step
          const { secret } = mute.find(({ player }) => player.name === step.player)!
          const { line, spoilt } = step.delivery
          return { ...step, spoilt, message: line(secret, 1_760_000_000_000) }
        }),
        (_, value) => (typeof value === 'bigint' ? `${value}` : value),
      )
    expect(text(7)).toBe(text(7))
    expect(text(7)).not.toBe(text(8))
  })

  it('holds every kind of trouble of the leading provider, however short it is', () => {
    const { trouble, steps } = badDay(14, 1, 'x', cast)
    expect(Object.keys(trouble)).toHaveLength(14)
    const spoilt = new Set(steps.flatMap((step) => (step.kind === 'deliver' ? [step.delivery.spoilt] : [])))
    expect(spoilt.size).toBe(5)
  })

  it('shows every provider once in thirty orders', () => {
    const { orders, steps } = badDay(30, 1, 'x', cast)
    const seen = new Set(steps.flatMap((step) => (step.kind === 'register' ? [] : [step.player])))
    expect([...seen].sort()).toEqual(CAST.map(({ name }) => name).sort())
    expect([...orders.values()].flat()).toHaveLength(30)
  })

  it('has a player for every provider, and its endpoint', () => {
    const players = CAST.map(({ name }) => name)
    expect(players).toEqual(expect.arrayContaining(providerNames()))
    expect(Object.keys(castEndpoints('whsec_of_a_test'))).toEqual(players)
  })

  it('throws fair dice', () => {
    const dice = new Dice(3)
    const thrown = Array.from({ length: 10_000 }, () => dice.whole(1, 6))
    expect([Math.min(...thrown), Math.max(...thrown)]).toEqual([1, 6])
    expect(thrown.reduce((sum, value) => sum + value, 0) / 10_000).toBeCloseTo(3.5, 1)
  })
})

describe('what the receiver’s ledger shows', () => {
  const receipt = (key: string, more: Partial<Receipt> = {}): Receipt => ({
    key,
    topic: 'entitlement.changed',
    order: 'A',
    subject: 'order A',
    item: 'book',
    cause: 'revision-1',
    revision: 1,
    state: 'granted',
    times: 1,
    ...more,
  })

  it('finds one effect under two keys', () => {
    expect(underDifferentKeys([receipt('1'), receipt('2')])).toBe(1)
    expect(underDifferentKeys([receipt('1'), receipt('2', { revision: 2 })])).toBe(0)
    const once = { topic: 'receipt.due', item: '-', revision: 0, cause: 'order' }
    expect(underDifferentKeys([receipt('1', once), receipt('2', once)])).toBe(1)
  })

  it('finds a right that was given twice', () => {
    const second = receipt('2', { revision: 2 })
    expect(grantedTwiceAtReceiver([second, receipt('1')])).toBe(1)
    const taken = receipt('2', { revision: 2, state: 'revoked' })
    expect(grantedTwiceAtReceiver([receipt('1'), taken, receipt('3', { revision: 3 })])).toBe(0)
  })
})

withDatabases('the review of a demo', (open) => {
  const counts = {
    deliveries: 1,
    accepted: 1,
    refused: 0,
    held: 0,
    believed: 0,
    turned_away: 0,
    sent_again: 0,
  }
  const sent = new Map([['stripe', counts]])

  async function reviewAfter(tampering: string, unpaid: readonly string[] = []): Promise<DemoReview> {
    const database = await open()
    const shop = openShop(database, { options: { effects: { '*': () => undefined } } })
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' }))
    await database.script(`update effects set state = 'done', finished_at = now()`)
    await database.script(tampering)
    const effects = await database.query<{ id: bigint; topic: string }>({
      name: '',
      text: `select id, topic from effects where state = 'done' and last_error = ''`,
    })
    const ledger = new Map<string, Receipt>()
    for (const { id, topic } of effects) {
      const common = { order: 'A-1', subject: 'order A-1', item: '-', cause: topic, revision: 0, state: null }
      ledger.set(`effect_1_${id}`, { key: `effect_1_${id}`, topic, ...common, times: 1 })
    }
    const day = { trouble: {}, orders: new Map([['stripe', ['A-1']]]), unpaid }
    const witnessed = { seed: 1, day, sent, ledger, workers_killed: 0, took_ms: 0 }
    return review(shop.paidonce, witnessed, new Date(Date.now() + 60_000), () => undefined)
  }

  const rows: [string, string, Partial<DemoReview>][] = [
    [
      'nothing where all is well',
      '',
      { granted: 1, paid_not_granted: 0, effects_lost: 0, audit_differences: 0 },
    ],
    [
      'an order that was paid and not given',
      `update entitlements set state = 'suspended'`,
      { granted: 0, paid_not_granted: 1, audit_differences: 1 },
    ],
    [
      'a right that was announced twice',
      `insert into effects (subject_id, seq, revision, available_at, created_at, bucket, tenant, subject_kind, subject_key,
         topic, item, cause, lane, state, payload)
       select subject_id, 9, 2, now(), now(), 0, tenant, subject_kind, subject_key, topic, item, 'revision-2', lane,
         'done', payload from effects where topic = 'entitlement.changed'`,
      { granted_twice: 1 },
    ],
    [
      'an effect that the receiver never had',
      `update effects set last_error = 'done, as they say' where topic = 'receipt.due'`,
      { effects_lost: 1 },
    ],
    [
      'an effect that still waits, and one that was given up',
      `update effects set state = case topic when 'receipt.due' then 'dead' else 'due' end`,
      { effects_lost: 2 },
    ],
  ]
  for (const [what, tampering, found] of rows) {
    it(`finds ${what}`, async () => {
      expect(await reviewAfter(tampering === '' ? 'select 1' : tampering)).toMatchObject(found)
    })
  }

  it('tells what came of each provider', async () => {
    const { providers } = await reviewAfter(
      `insert into lookups (bucket, asked_for_at, tenant, namespace, account, object, object_id, endpoint, asked_by, answers)
         select 0, now(), 'default', 'stripe', 'default', 'payment', 'pi_1', 'stripe', 'event', 2;
       insert into lookup_answers (bucket, lookup_id, number, asked_at, answered_at, facts, outcome)
         select 0, id, number, now(), now(), 1, outcome
         from lookups, (values (1, 'unavailable'), (2, 'found')) as answer (number, outcome)`,
    )
    expect(providers).toEqual({
      stripe: { deliveries: 1, paid: 1, granted: 1, looked_up: 1, unanswered: 1, subscriptions: 0 },
    })
  })

  it('finds money that is recorded for an order that nobody paid', async () => {
    expect(await reviewAfter('select 1', ['A-1', 'A-2'])).toMatchObject({ forged_believed: 1 })
  })
})

withDatabases('what a demo waits for', (open) => {
  const now = new Date('2026-12-01T10:00:00Z')
  const later = new Date('2026-12-01T10:10:00Z')

  it('is an answer that did not come, and not one that is to be asked for again', async () => {
    const database = await open()
    const ask = (id: string, outcome: string) =>
      database.query(
        {
          name: '',
          text: `insert into lookups
            (bucket, asked_for_at, due_at, tenant, namespace, account, object, object_id, endpoint, asked_by, last_outcome)
          values (0, $1, $2, 'default', 'n', 'default', 'payment', $3, 'e', 'start', $4)`,
        },
        [now, later, id, outcome],
      )
    await ask('never asked', '')
    await ask('no answer', 'unavailable')
    await ask('pending', 'found')
    expect(await countDemoBacklog(database, 0, now)).toBe(2)
    const due = async () =>
      (
        await database.query<{ object_id: string }>(
          { name: '', text: 'select object_id from lookups where due_at <= $1 order by object_id' },
          [now],
        )
      ).map((row) => row.object_id)
    await hurryDemo(database, 0, now, false)
    expect(await due()).toEqual(['never asked', 'no answer'])
    await hurryDemo(database, 0, now, true)
    expect(await due()).toEqual(['never asked', 'no answer', 'pending'])
  })
})

/** Every provider had its part, and those that have to be asked were asked. */
function expectEverybody({ providers }: DemoReview): void {
  expect(Object.keys(providers)).toEqual(CAST.map(({ name }) => name))
  for (const [name, { deliveries, paid, granted, subscriptions }] of Object.entries(providers)) {
    expect([name, deliveries > 0, paid > 0 || subscriptions > 0]).toEqual([name, true, true])
    expect([name, granted > 0]).toEqual([name, paid > 0])
  }
  const asked = Object.entries(providers).filter(([, { looked_up }]) => looked_up > 0)
  expect(asked.map(([name]) => name)).toEqual(
    expect.arrayContaining(['paypal', 'paypal-ipn', 'esewa', 'ime-pay', 'khalti', 'github']),
  )
  expect(asked.some(([, { unanswered }]) => unanswered > 0)).toBe(true)
}

function expectWell(review: DemoReview): void {
  expect(review).toMatchObject(Object.fromEntries(MUST_BE_ZERO.map((name) => [name, 0])))
  expect(review.workers_killed).toBeGreaterThan(0)
  expect(review.effects_received_again).toBeGreaterThan(0)
  expect(review.duplicates).toBeGreaterThan(0)
  expect(review.forged_refused).toBeGreaterThan(0)
  expect(review.granted).toBeGreaterThan(0)
}

describe('the demo on the embedded database', () => {
  const place = ownDirectory()
  afterAll(() => place.remove())
  const directory = join(place.path, '.paidonce')

  it('P28 ends well, and commands find what it wrote; a second one replaces it', async () => {
    const demo = ['demo', '--once', '--json', '--seed', '7', '--directory', directory]
    const first = await paidonce([...demo, '--orders', '40'])
    expect([first.status, first.notes]).toEqual([0, ''])
    expectWell(first.json())
    expectEverybody(first.json())
    expect(first.json().orders).toBe(40)
    const audit = await paidonce(['audit', '--json'], { cwd: place.path })
    expect(audit.status).toBe(0)
    expect(audit.json()).toMatchObject({ checked: { orders: 40 } })
    const replay = await paidonce(['replay', '--all', '--json'], { cwd: place.path })
    expect(replay.json()).toMatchObject({ refused: 0, kept: 0 })
    expect((await paidonce(['audit'], { cwd: place.path })).status).toBe(0)

    const second = await paidonce([...demo, '--orders', '14'])
    expect(second.json().orders).toBe(14)
  }, 120_000)

  it('does not touch a database that no demo made', async () => {
    const other = ownDirectory()
    const theirs = join(other.path, '.paidonce')
    await embeddedDatabase(theirs)
    const { status, notes } = await paidonce(['demo', '--once', '--directory', theirs])
    expect({ status, notes }).toEqual({
      status: 1,
      notes: expect.stringMatching(/^config_invalid: .*does not touch it/),
    })
    expect(existsSync(join(theirs, 'data'))).toBe(true)
    expect(existsSync(join(theirs, 'demo.json'))).toBe(false)
    other.remove()
  })
})

withPostgres('the demo', (open, url) => {
  const place = ownDirectory()
  afterAll(() => place.remove())
  const demo = (...more: string[]) =>
    paidonce([
      'demo',
      '--once',
      '--json',
      '--directory',
      join(place.path, '.paidonce'),
      '--database',
      url(),
      ...more,
    ])

  it('refuses a schema that no demo made, then ends well in one of its own, with a worker process killed', async () => {
    await open()
    const refused = await demo()
    expect(refused).toMatchObject({
      status: 1,
      notes: expect.stringMatching(/^config_invalid: The schema paidonce .*not made by a demo/),
    })
    const ran = await demo('--schema', 'paidonce_demo', '--orders', '60', '--seed', '7')
    expect([ran.status, ran.notes]).toEqual([0, ''])
    expectWell(ran.json())
    expectEverybody(ran.json())
    const audit = () => paidonce(['audit', '--json'], { cwd: place.path })
    expect((await audit()).status).toBe(0)
    await administer(
      url(),
      `update paidonce_demo.entitlements set state = 'revoked' where (order_id, item) in
        (select order_id, item from paidonce_demo.entitlements where state = 'granted' limit 1)`,
    )
    const found = await audit()
    expect(found.status).toBe(1)
    expect(found.json<{ differences: unknown[] }>().differences).toEqual([
      {
        table: 'entitlements',
        row: expect.stringMatching(/^D-shop-\d+ /),
        column: 'state',
        stored: 'revoked',
        derived: 'granted',
      },
    ])
  })

  it('replaces what an earlier demo left in its schema, and keeps the marker to itself', async () => {
    expect((await demo('--schema', 'paidonce_demo', '--orders', '14')).json()).toMatchObject({ orders: 14 })
    const marker = join(place.path, '.paidonce', 'demo.json')
    expect(JSON.parse(readFileSync(marker, 'utf8'))).toMatchObject({ schema: 'paidonce_demo' })
  })

  it('leaves the way to a database of the user’s own as it was', async () => {
    const other = ownDirectory()
    const theirs = join(other.path, '.paidonce')
    await mkdir(join(theirs, 'data'), { recursive: true })
    writeFileSync(join(theirs, 'data', 'PG_VERSION'), '18')
    const args = ['demo', '--once', '--json', '--directory', theirs, '--database', url()]
    const ran = await paidonce([...args, '--schema', 'paidonce_demo', '--orders', '14'])
    expect(ran.status).toBe(0)
    expect(existsSync(join(theirs, 'demo.json'))).toBe(false)
    other.remove()
  })
})
