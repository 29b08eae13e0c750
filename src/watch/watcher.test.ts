import { beforeEach, describe, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { exceptions, level, outbox, put, StandingClock } from '../../test/outbox.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { stripe } from '../providers/stripe/index.ts'
import { RefusingWatch } from '../receive/refusing-watch.ts'
import type { Database } from '../store/database.ts'
import { markUnsettled } from '../store/queries/mark-unsettled.ts'
import { recordSecretUses } from '../store/queries/record-secret-uses.ts'
import { requestLookups } from '../store/queries/request-lookups.ts'
import { watchLimits } from './watch-options.ts'
import { Watcher, type WatcherOptions } from './watcher.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const ENDPOINT: Endpoint = {
  name: 'stripe',
  provider: stripe({ webhookSecrets: 'whsec_aaaaaaaaaaaaaaaaaaaaaaaa' }),
  tenant: 'default',
  bucket: 0,
  mode: 'test',
}
const ENDPOINTS = new Map([['stripe', ENDPOINT]])

withDatabases('the watches', (open) => {
  let database: Database
  let clock: StandingClock
  let watcher: Watcher
  const errors: unknown[] = []

  const watching = (options: WatcherOptions = {}, on = database, endpoints = ENDPOINTS) =>
    new Watcher(on, endpoints, 1, clock.now_ms, { onError: (error) => errors.push(error), ...options })

  beforeEach(async () => {
    database = await open()
    clock = new StandingClock()
    watcher = watching()
    errors.length = 0
  })

  /** Looks once after some time, and gives what is open then, with the number of alerts that were written so far. */
  async function after(ms: number) {
    clock.advance(ms)
    await watcher.runOnce()
    expect(errors).toEqual([])
    const opened = (await exceptions(database)).filter(({ state }) => state === 'open')
    return opened.map(({ kind, subject_key, severity }) => `${kind} ${subject_key} ${severity}`)
  }
  const alertCount = async () => (await outbox(database)).filter(({ lane }) => lane === 'alerts').length

  const heard = (at = clock.now()) =>
    recordSecretUses(database, 0, [
      { tenant: 'default', endpoint: 'stripe', secret_label: 'only', used_at: at },
    ])

  const payment = (id: string, at = clock.now()) =>
    database.script(`
      insert into payments (bucket, facts_rev, tenant, namespace, account, provider_payment_id, status, created_at, updated_at)
      values (0, 1, 'default', 'stripe', 'default', '${id}', 'succeeded', '${at.toISOString()}', '${at.toISOString()}')`)

  it('P42 case-08 notices that an endpoint is silent though payments exist there, once, and that it speaks again', async () => {
    await heard()
    await payment('pi_1')
    expect(await after(71 * HOUR_MS)).toEqual([])
    for (let times = 0; times < 3; times += 1) {
      expect(await after(2 * HOUR_MS)).toEqual(['endpoint_silent stripe warning'])
    }
    expect(await alertCount()).toBe(1)
    await heard()
    expect(await after(HOUR_MS)).toEqual([])
  })

  it('P42 is urgent about silence when money became known otherwise, also where nothing was ever heard', async () => {
    await heard()
    await payment('pi_1')
    clock.advance(DAY_MS)
    await payment('pi_found')
    expect(await after(3 * DAY_MS)).toEqual(['endpoint_silent stripe urgent'])
    await database.script('delete from endpoint_secrets')
    expect(await after(HOUR_MS)).toEqual(['endpoint_silent stripe urgent'])
    expect((await exceptions(database))[0]!.message).toContain('never had an authentic message')
  })

  it('says nothing about silence where no payment exists, or where it was said to be normal', async () => {
    await heard()
    expect(await after(30 * DAY_MS)).toEqual([])
    await payment('pi_1')
    watcher = watching({ silent_after_hours: { stripe: null } })
    expect(await after(30 * DAY_MS)).toEqual([])
    watcher = watching({ silent_after_hours: { other: 1 } })
    expect(await after(HOUR_MS)).toEqual(['endpoint_silent stripe urgent'])
  })

  it('closes what it said of an endpoint that is no longer configured', async () => {
    await payment('pi_1')
    expect(await after(4 * DAY_MS)).toEqual(['endpoint_silent stripe urgent'])
    watcher = watching({}, database, new Map())
    expect(await after(HOUR_MS)).toEqual([])
  })

  it('P42 case-04 notices an endpoint that refuses every signed delivery, over all processes', async () => {
    await heard()
    const processes = [1, 2].map(() => new RefusingWatch(database, ENDPOINTS, clock.now_ms))
    const refuseAll = async () => {
      for (const one of processes) {
        for (const code of ['signature_wrong', 'signature_stale', 'signature_missing'] as const)
          one.refused('stripe', code)
        one.refused('nobody', 'signature_wrong')
        await one.write()
      }
    }
    clock.advance(MINUTE_MS)
    await refuseAll()
    expect(await after(31 * MINUTE_MS)).toEqual([])
    await refuseAll()
    for (let times = 0; times < 3; times += 1) {
      expect(await after(6 * MINUTE_MS)).toEqual(['endpoint_refusing stripe urgent'])
    }
    expect((await exceptions(database))[0]!.message).toContain('8 so far')
    expect(await alertCount()).toBe(1)
    await heard()
    expect(await after(6 * MINUTE_MS)).toEqual([])
    await refuseAll()
    expect(await after(6 * MINUTE_MS)).toEqual([])
  })

  it('does not call an endpoint refusing that believes others, or that only strangers knock at', async () => {
    const refusing = new RefusingWatch(database, ENDPOINTS, clock.now_ms)
    for (let minute = 0; minute < 60; minute += 1) {
      refusing.refused('stripe', 'signature_missing')
      if (minute % 20 === 0) refusing.refused('stripe', 'signature_wrong')
      await refusing.write()
      clock.advance(MINUTE_MS)
      await heard()
    }
    expect(await after(6 * MINUTE_MS)).toEqual([])
  })

  it('forgets refusals that stopped a day ago', async () => {
    const refusing = new RefusingWatch(database, ENDPOINTS, clock.now_ms)
    for (let times = 0; times < 9; times += 1) refusing.refused('stripe', 'signature_wrong')
    await refusing.write()
    expect(await after(HOUR_MS)).toEqual(['endpoint_refusing stripe urgent'])
    expect(await after(DAY_MS)).toEqual([])
  })

  it('P42 notices events that wait too long to be settled, as one exception', async () => {
    const mark = (event_id: bigint) => ({
      tenant: 'default',
      event_id,
      order_ref: '',
      reason: 'kept',
      last_error: 'hook threw',
      next_attempt_at: clock.now(),
    })
    await markUnsettled(database, 0, clock.now(), [mark(1n), mark(2n)])
    expect(await after(59 * MINUTE_MS)).toEqual([])
    expect(await after(6 * MINUTE_MS)).toEqual(['events_stuck settling urgent'])
    await database.script('delete from unsettled where event_id = 1')
    expect(await after(6 * MINUTE_MS)).toEqual(['events_stuck settling urgent'])
    await database.script('delete from unsettled')
    expect(await after(6 * MINUTE_MS)).toEqual([])
    expect(await alertCount()).toBe(1)
  })

  it('P42 notices questions to a provider that nobody asks', async () => {
    await requestLookups(database, 0, clock.now(), [
      {
        tenant: 'default',
        namespace: 'stripe',
        account: 'default',
        object: 'payment',
        object_id: 'pi_1',
        endpoint: 'stripe',
        asked_by: 'event',
        due_at: clock.now(),
      },
    ])
    expect(await after(30 * MINUTE_MS)).toEqual([])
    expect(await after(HOUR_MS)).toEqual(['lookups_stuck stripe warning'])
    await database.script('update lookups set due_at = null')
    expect(await after(HOUR_MS)).toEqual([])
  })

  it('P42 notices each order that is paid and whose right has not reached the shop', async () => {
    const granted = (order: number, revision = 1n, state = 'granted') =>
      level({ order, revision, payload: JSON.stringify({ order: `A-${order}`, state }) })
    await put(
      database,
      granted(1),
      granted(2),
      granted(3),
      granted(3, 2n, 'revoked'),
      granted(4, 1n, 'revoked'),
    )
    expect(await after(0)).toEqual(['paid_unfulfilled A-1 urgent', 'paid_unfulfilled A-2 urgent'])
    await database.script(`update effects set state = 'done' where subject_key = 'A-1'`)
    expect(await after(HOUR_MS)).toEqual(['paid_unfulfilled A-2 urgent'])
    await database.script(`update effects set state = 'done' where subject_key = 'A-2'`)
    expect(await after(HOUR_MS)).toEqual([])
    expect(await alertCount()).toBe(2)
  })

  it('P42 case-38 reminds of each dispute whose deadline is near, until it is answered or over', async () => {
    await payment('pi_1')
    await heard(new Date(clock.now_ms() + 40 * DAY_MS))
    const dispute = (id: string, days: number | null, status = 'needs_response') =>
      database.script(`
        insert into disputes (bucket, updated_at, payment_id, tenant, namespace, account, provider_dispute_id, stage, status,
          amount_minor, currency, respond_by)
        select 0, now(), id, tenant, namespace, account, '${id}', 'chargeback', '${status}', 1999, 'USD',
          ${days === null ? 'null' : `'${new Date(clock.now_ms() + days * DAY_MS).toISOString()}'`}
        from payments`)
    await dispute('dp_1', 10)
    await dispute('dp_2', 11)
    await dispute('dp_answered', 10, 'under_review')
    await dispute('dp_untold', null)
    expect(await after(6 * DAY_MS)).toEqual([])
    const near = 'dispute_deadline stripe/default/pi_1 urgent'
    expect(await after(1.5 * DAY_MS)).toEqual([near])
    expect((await exceptions(database))[0]!.message).toMatch(
      /^Dispute dp_1 over \$19\.99 waits .* 2026-01-12T12:00/,
    )
    expect(await after(DAY_MS)).toEqual([near, near])
    await database.script(`update disputes set status = 'under_review' where provider_dispute_id = 'dp_1'`)
    expect(await after(HOUR_MS)).toEqual([near])
    expect(await after(3 * DAY_MS)).toEqual([])
    expect(await alertCount()).toBe(2)
  })

  it('P42 looks once per turn and tells once, however many processes watch', async () => {
    await payment('pi_1')
    const others = await Promise.all([1, 2, 3].map(() => open({ apart: true })))
    const watchers = others.map((own) => watching({}, own))
    clock.advance(4 * DAY_MS)
    const turns = async () => {
      const taken = await Promise.all(watchers.map((one) => one.runOnce()))
      return taken.reduce((sum, one) => sum + one, 0)
    }
    expect(await turns()).toBe(3)
    expect(await turns()).toBe(0)
    clock.advance(5 * MINUTE_MS)
    expect(await turns()).toBe(3)
    expect(errors).toEqual([])
    expect(await exceptions(database)).toMatchObject([{ kind: 'endpoint_silent', occurrence: 1 }])
    expect(await alertCount()).toBe(1)
  })

  it('P11 a turn that fails writes nothing and is free again at once; the other watches go on', async () => {
    await payment('pi_1')
    await database.script('alter table unsettled rename to hidden')
    clock.advance(4 * DAY_MS)
    try {
      expect(await watcher.runOnce()).toBe(2)
      expect(errors).toHaveLength(1)
    } finally {
      await database.script('alter table hidden rename to unsettled')
    }
    expect(await exceptions(database)).toMatchObject([{ kind: 'endpoint_silent' }])
    expect(await watcher.runOnce()).toBe(1)
  })
})

describe('the limits of watches', () => {
  it('refuse what is no time', () => {
    for (const options of [
      { silent_after_hours: 0 },
      { silent_after_hours: { stripe: -1 } },
      { refusing_after_minutes: Number.NaN },
      { stuck_after_minutes: -1 },
      { dispute_days: 0 },
      { every_ms: Number.POSITIVE_INFINITY },
    ]) {
      expect(() => watchLimits(options)).toThrow(expect.objectContaining({ code: 'config_invalid' }))
    }
    expect(watchLimits({ silent_after_hours: null }).silentAfter_ms('stripe')).toBeNull()
    expect(watchLimits().silentAfter_ms('constructor')).toBe(72 * HOUR_MS)
  })
})
