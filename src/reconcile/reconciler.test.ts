import { afterEach, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop, SHOP_SECRET } from '../../test/stripe-shop.ts'
import { audit } from '../audit/audit.ts'
import { type StripeFake, startStripeFake } from '../providers/stripe/fake.ts'
import { stripe } from '../providers/stripe/index.ts'
import type { Database } from '../store/database.ts'
import { Reconciler, type ReconcilerOptions } from './reconciler.ts'
import { Schedule } from './schedule.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const fakes: StripeFake[] = []
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close()
})

/** A shop whose provider is a stand-in, some hours after whatever happened there. */
async function shopAt(database: Database, options: ReconcilerOptions = {}) {
  const clock = { now_ms: Date.now() }
  const fake = await startStripeFake({ now_ms: () => clock.now_ms })
  fakes.push(fake)
  const provider = stripe({ webhookSecrets: SHOP_SECRET, apiKey: 'sk_test_forTestsOnly', apiUrl: fake.url })
  const shop = openShop(database, { provider })
  const { settler, endpoints } = shop.paidonce
  const noAsk = () => Promise.reject(new Error('the official SDK is to be used'))
  const reconciler = (more: ReconcilerOptions = {}) =>
    new Reconciler(settler, endpoints, noAsk, () => clock.now_ms, { ...options, ...more })
  return {
    ...shop,
    fake,
    clock,
    reconciler,
    run: (more = {}) => reconciler().run({ endpoint: 'stripe', ...more }),
    later: (by_ms: number) => {
      clock.now_ms += by_ms
    },
  }
}

const rows = (database: Database, text: string) => database.query({ name: '', text })
const open = (database: Database) =>
  rows(
    database,
    "select kind, item_id, class from reconciliation_breaks where state = 'open' order by item_id",
  )
const exceptions = (database: Database) =>
  rows(database, "select cause from exceptions where state = 'open' and kind = 'recon_break' order by cause")
const states = (database: Database) =>
  rows(database, 'select reference, status, net_minor from orders order by reference')
const everything = (database: Database) =>
  rows(
    database,
    `select (select count(*) from facts) as facts, (select count(*) from witnesses) as witnesses,
      (select count(*) from effects) as effects, (select count(*) from reconciliation_breaks) as breaks`,
  )

withDatabases('a reconciliation', (openDatabase) => {
  it('P40 P41 case-59 seq-02 finds and settles once what no webhook told; the late webhooks and a second run change nothing', async () => {
    const database = await openDatabase()
    const shop = await shopAt(database)
    for (const reference of ['A-1', 'A-2', 'A-3']) await shop.order(reference)
    const before = shop.fake.pay({ amount_minor: 2_000n, order: 'A-1' })
    for (const body of shop.fake.webhooks()) expect(await shop.deliver(body)).toBe(200)
    // From here on every webhook is lost.
    shop.later(HOUR_MS)
    const lost = shop.fake.pay({ amount_minor: 2_000n, order: 'A-2' })
    const refund = shop.fake.giveBack({ payment: before, amount_minor: 2_000n })
    shop.later(HOUR_MS)

    const report = await shop.run()
    expect(report).toMatchObject({ state: 'done', reason: '' })
    expect(report.counts).toEqual({
      payments: { matched: 1, missing_internal: 1 },
      refunds: { missing_internal: 1 },
    })
    expect(report.breaks.map(({ item_id, class: found, state }) => [item_id, found, state]).sort()).toEqual(
      [
        [lost, 'missing_internal', 'resolved'],
        [refund, 'missing_internal', 'resolved'],
      ].sort(),
    )
    expect(report.coverage.map(({ kind, criterion }) => [kind, criterion])).toEqual([
      ['disputes', 'created'],
      ['payments', 'moved'],
      ['refunds', 'moved'],
    ])
    expect(await states(database)).toMatchObject([
      { reference: 'A-1', status: 'refunded' },
      { reference: 'A-2', status: 'paid', net_minor: '2000' },
      { reference: 'A-3', status: 'awaiting_payment' },
    ])
    expect(await rows(database, 'select item_id from reconciliation_items')).toEqual([])
    expect((await audit(database)).differences).toEqual([])

    const then = await states(database)
    const effects = await rows(database, 'select count(*) from effects')
    for (const body of shop.fake.webhooks()) expect(await shop.deliver(body)).toBe(200)
    expect(await states(database)).toEqual(then)
    expect(await rows(database, 'select count(*) from effects')).toEqual(effects)

    const settled = await everything(database)
    const again = await shop.run()
    expect(again.counts).toEqual({ payments: { matched: 2 }, refunds: { matched: 1 } })
    expect(again.breaks).toEqual([])
    expect(await everything(database)).toEqual(settled)
    expect(await exceptions(database)).toEqual([])
  })

  it('P41 case-59 moves nothing when the list breaks off, tells a person, and the next run covers the window', async () => {
    const database = await openDatabase()
    const shop = await shopAt(database)
    for (let n = 0; n < 120; n += 1) shop.fake.pay({ amount_minor: 2_000n, order: `B-${n}` })
    shop.later(HOUR_MS)
    shop.fake.faults.list_breaks = true
    const failed = await shop.run()
    expect(failed.state).toBe('failed')
    expect(failed.coverage.map(({ kind }) => kind)).toEqual(['disputes', 'refunds'])
    expect(await exceptions(database)).toEqual([{ cause: 'run' }])
    const from = failed.from_at!.getTime()

    shop.fake.faults.list_breaks = false
    shop.later(3 * DAY_MS)
    const whole = await shop.run()
    expect(whole.state).toBe('done')
    expect(whole.from_at!.getTime()).toBeGreaterThanOrEqual(from)
    expect(whole.counts.payments).toEqual({ matched: 100, missing_internal: 20 })
    expect(await exceptions(database)).toEqual([])
    expect(await rows(database, 'select count(*) from payments')).toEqual([{ count: 120n }])
    // The next window begins where this one ended, less the overlap.
    shop.later(DAY_MS)
    const next = await shop.run()
    expect(whole.to_at!.getTime() - next.from_at!.getTime()).toBe(DAY_MS + 60_000)
  })

  it('P41 raises what only we have once its absence is certain, and not while the list may lag', async () => {
    const database = await openDatabase()
    const shop = await shopAt(database)
    await shop.order('A-1')
    const { fake: other } = await shopAt(database)
    const ghost = other.pay({ payment: 'pi_ghost', amount_minor: 2_000n, order: 'A-1' })
    for (const body of other.webhooks()) await shop.deliver(body)

    shop.later(20_000)
    expect((await shop.run()).counts.payments).toEqual({ timing_difference: 1 })
    expect(await exceptions(database)).toEqual([])
    expect(await open(database)).toEqual([{ kind: 'payments', item_id: ghost, class: 'timing_difference' }])

    shop.later(HOUR_MS)
    expect((await shop.run()).counts.payments).toEqual({ missing_external: 1 })
    expect(await exceptions(database)).toEqual([{ cause: `payments/${ghost}` }])

    // It was only slow: what appears closes the break by itself.
    shop.fake.pay({ payment: ghost, amount_minor: 2_000n, order: 'A-1' })
    await shop.run()
    expect(await open(database)).toEqual([])
    expect(await exceptions(database)).toEqual([])
  })

  it('P41 keeps what differs in amount, and leaves what was settled as it is', async () => {
    const database = await openDatabase()
    const shop = await shopAt(database)
    await shop.order('A-1')
    const { fake: other } = await shopAt(database)
    other.pay({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' })
    for (const body of other.webhooks()) await shop.deliver(body)
    shop.fake.pay({ payment: 'pi_1', amount_minor: 2_500n, order: 'A-1' })
    shop.later(HOUR_MS)
    await shop.run()
    expect(await open(database)).toEqual([{ kind: 'payments', item_id: 'pi_1', class: 'amount_mismatch' }])
    expect(await states(database)).toMatchObject([{ reference: 'A-1', status: 'paid' }])
    expect(await rows(database, 'select our_minor, their_minor from reconciliation_breaks')).toEqual([
      { our_minor: '2000', their_minor: '2500' },
    ])
    // Explained by a person, it stays explained while it is the same difference.
    await database.query({
      name: '',
      text: "update reconciliation_breaks set state = 'explained', actor = 'ann'",
    })
    await shop.run()
    expect(await rows(database, 'select state, actor from reconciliation_breaks')).toEqual([
      { state: 'explained', actor: 'ann' },
    ])
    expect(await exceptions(database)).toEqual([])
  })

  it('raises a refund whose payment nobody knows, and takes that back when the payment comes', async () => {
    const database = await openDatabase()
    const shop = await shopAt(database)
    const payment = shop.fake.pay({ amount_minor: 2_000n, order: 'A-1' })
    shop.later(30 * DAY_MS)
    const refund = shop.fake.giveBack({ payment, amount_minor: 500n })
    shop.later(HOUR_MS)
    await shop.run({ from: new Date(shop.clock.now_ms - DAY_MS), to: new Date(shop.clock.now_ms) })
    expect(await open(database)).toEqual([{ kind: 'refunds', item_id: refund, class: 'unexplained_refund' }])
    await shop.run({ from: new Date(shop.clock.now_ms - 40 * DAY_MS), to: new Date(shop.clock.now_ms) })
    expect(await open(database)).toEqual([])
    expect(await exceptions(database)).toEqual([])
  })

  it('goes on with a run whose process went away, once, and counts nothing twice', async () => {
    const database = await openDatabase()
    const shop = await shopAt(database)
    for (let n = 0; n < 150; n += 1) shop.fake.pay({ amount_minor: 2_000n, order: `B-${n}` })
    shop.later(HOUR_MS)
    const dying = shop.run({
      onProgress: () => {
        throw Object.assign(new Error('killed'), { code: 'killed' })
      },
    })
    await dying
    // As a kill leaves it: the row says running, the lease runs out, part of the items is noted.
    await database.query(
      {
        name: '',
        text: `update reconciliations set state = 'running', finished_at = null, lease_until = $1`,
      },
      [new Date(shop.clock.now_ms + 120_000)],
    )
    expect(await shop.reconciler().runDue()).toBe(0)
    await expect(shop.run()).rejects.toMatchObject({ code: 'reconcile_running' })
    shop.later(200_000)
    expect(await shop.reconciler().runDue()).toBe(1)
    expect(await rows(database, 'select state, attempt, counts from reconciliations')).toEqual([
      { state: 'done', attempt: 2, counts: { payments: { matched: 100, missing_internal: 50 } } },
    ])
    expect(await shop.reconciler().runDue()).toBe(0)
  })

  it('runs once per time of its schedule, however many processes look, and tries again what failed', async () => {
    const database = await openDatabase()
    const schedule = new Schedule('30 3 * * *')
    const shop = await shopAt(database, { schedule })
    const both = [shop.reconciler(), shop.reconciler()]
    expect((await Promise.all(both.map((one) => one.runDue()))).sort()).toEqual([0, 1])
    expect(await both[0]!.runDue()).toBe(0)
    shop.later(DAY_MS)
    shop.fake.faults.locked_out = true
    expect(await both[1]!.runDue()).toBe(1)
    expect(await both[0]!.runDue()).toBe(0)
    shop.fake.faults.locked_out = false
    shop.later(6 * 60_000)
    expect(await both[0]!.runDue()).toBe(1)
    expect(await both[1]!.runDue()).toBe(0)
    expect(await rows(database, 'select state from reconciliations order by id')).toEqual([
      { state: 'done' },
      { state: 'done' },
    ])
  })

  it('does not let a window that leaves a gap move the next one', async () => {
    const database = await openDatabase()
    const shop = await shopAt(database)
    await shop.run()
    const end = shop.clock.now_ms
    shop.later(10 * DAY_MS)
    await shop.run({ from: new Date(shop.clock.now_ms - DAY_MS) })
    const next = await shop.run()
    expect(next.from_at!.getTime()).toBe(end - DAY_MS - 60_000)
  })
})
