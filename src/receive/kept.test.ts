import { expect, it } from 'vitest'
import { withDatabases, withPostgres } from '../../test/database.ts'
import { openShop, type Shop } from '../../test/stripe-shop.ts'
import { audit } from '../audit/audit.ts'
import { stripeEvents } from '../providers/stripe/index.ts'
import type { OnEntitlement } from '../settle/hook.ts'
import { SETTLE_DEFAULTS, settle } from '../settle/settle.ts'
import type { Database } from '../store/database.ts'
import { KeptSweeper, type KeptSweeperOptions } from './kept.ts'

const SALE = { payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' }

/** A sweeper with a clock of its own that runs ahead of the database's. */
function sweeper({ paidonce }: Shop, options: KeptSweeperOptions = {}) {
  let now_ms = Date.now() + 60_000
  const kept = new KeptSweeper(paidonce.settler, paidonce.endpoints, 1, () => now_ms, {
    pause_ms: 1_000,
    ...options,
  })
  return {
    sweep: () => kept.runOnce(),
    later: (by_ms: number) => {
      now_ms += by_ms
    },
  }
}

async function rows(database: Database, text: string): Promise<unknown[]> {
  return database.query({ name: '', text })
}

/** A shop whose hook fails while `failing` is set. */
function moody(database: Database, options: { hook?: OnEntitlement } = {}) {
  const mood = { failing: true }
  const onEntitlement: OnEntitlement =
    options.hook ??
    (() => {
      if (mood.failing) throw new Error('out of paper')
    })
  const shop = openShop(database, { options: { onEntitlement, limits: { breaker_failures: 1_000 } } })
  return { shop, mood }
}

withDatabases('what is kept', (open) => {
  it('P11 P57 case-13 settles by itself once the hook works, with one effect', async () => {
    const database = await open()
    const { shop, mood } = moody(database)
    await shop.order('A-1')
    expect(await shop.deliver(stripeEvents.chargeSucceeded(SALE))).toBe(200)
    expect(await rows(database, 'select state from events')).toEqual([{ state: 'kept' }])
    expect(await rows(database, 'select item from entitlements')).toEqual([])
    const { sweep, later } = sweeper(shop)
    expect(await sweep()).toEqual({ settled: 0, kept: 1, woken: 0 })

    mood.failing = false
    expect(await sweep()).toEqual({ settled: 0, kept: 0, woken: 0 })
    later(1_000)
    expect(await sweep()).toEqual({ settled: 1, kept: 0, woken: 0 })
    expect(await rows(database, 'select state, revision from entitlements')).toEqual([
      { state: 'granted', revision: 1n },
    ])
    expect(await rows(database, `select state, reason from events`)).toEqual([
      { state: 'settled', reason: '' },
    ])
    expect(await rows(database, `select cause from effects where topic = 'entitlement.changed'`)).toEqual([
      { cause: 'revision-1' },
    ])
    expect(await sweep()).toEqual({ settled: 0, kept: 0, woken: 0 })
    expect((await audit(database)).differences).toEqual([])
  })

  it('waits longer after each failure and says why it still stands', async () => {
    const database = await open()
    const { shop } = moody(database)
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    const { sweep, later } = sweeper(shop, { pause_max_ms: 4_000 })
    const pauses = []
    for (const wait of [0, 1_000, 2_000, 4_000, 4_000]) {
      later(wait)
      expect(await sweep()).toEqual({ settled: 0, kept: 1, woken: 0 })
      later(-1)
      expect(await sweep()).toEqual({ settled: 0, kept: 0, woken: 0 })
      later(1)
      pauses.push(wait)
    }
    expect(pauses).toHaveLength(5)
    expect(await rows(database, 'select attempts, last_error from unsettled')).toEqual([
      { attempts: 5, last_error: 'out of paper' },
    ])
  })

  it('tells a person once after eight attempts, goes on trying, and closes that when it is settled', async () => {
    const database = await open()
    const { shop, mood } = moody(database)
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    const { sweep, later } = sweeper(shop)
    const raised = `select kind, state, occurrence from exceptions where kind = 'settling_failed'`
    const alerts = `select state from effects where topic = 'exception.opened'`
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await sweep()
      later(600_000)
      expect(await rows(database, raised)).toHaveLength(attempt < 8 ? 0 : 1)
    }
    expect(await rows(database, alerts)).toHaveLength(1)
    mood.failing = false
    expect(await sweep()).toEqual({ settled: 1, kept: 0, woken: 0 })
    expect(await rows(database, raised)).toEqual([
      { kind: 'settling_failed', state: 'closed', occurrence: 1 },
    ])
    expect(await rows(database, alerts)).toEqual([{ state: 'withdrawn' }])
  })

  it('P11 reads the bytes again where not even the facts could be written', async () => {
    const database = await open()
    const { shop, mood } = moody(database)
    mood.failing = false
    await shop.order('A-1')
    const { settler, endpoints } = shop.paidonce
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    const [event] = await database.query<{ id: bigint }>({
      name: 'test-one-event',
      text: 'select id from events',
    })
    // As if a crash had left the event alone, marked.
    await database.script(`delete from entitlements; delete from effects; delete from witnesses w using events e
      where w.source_kind = 'event'; delete from facts where subject_kind = 'payment'; delete from payments;
      update orders set payment_ids = '{}', status = 'awaiting_payment', paid_minor = 0, net_minor = 0,
        has_entitlements = false;
      update events set state = 'kept';
      insert into unsettled (event_id, marked_at, next_attempt_at, bucket, tenant, reason)
        values (${event!.id}, now(), now(), 0, 'default', 'kept')`)
    expect((await audit(database)).differences).toEqual([])
    const { sweep } = sweeper({ ...shop, paidonce: Object.assign(shop.paidonce, { settler, endpoints }) })
    expect(await sweep()).toEqual({ settled: 1, kept: 0, woken: 0 })
    expect(await rows(database, 'select state from entitlements')).toEqual([{ state: 'granted' }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('looks again at an order that was marked', async () => {
    const database = await open()
    const { shop, mood } = moody(database)
    mood.failing = false
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    mood.failing = true
    // Registering the paid order grants it, and that the hook refuses: the terms are kept, the order is marked.
    await shop.order('A-1')
    expect(await rows(database, 'select order_ref from unsettled')).toEqual([{ order_ref: 'A-1' }])
    const { sweep, later } = sweeper(shop)
    expect(await sweep()).toEqual({ settled: 0, kept: 1, woken: 0 })
    mood.failing = false
    later(10_000)
    expect(await sweep()).toEqual({ settled: 1, kept: 0, woken: 0 })
    expect(await rows(database, 'select state from entitlements')).toEqual([{ state: 'granted' }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('does not lose a mark that was set again while it was being answered', async () => {
    const database = await open()
    const { shop, mood } = moody(database)
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    await database.script('update unsettled set times = times + 1 where false')
    mood.failing = false
    const { sweep } = sweeper(shop)
    const { settler } = shop.paidonce
    const original = settler.settleBatch.bind(settler)
    settler.settleBatch = async (bucket, items, end) => {
      await database.script('update unsettled set times = times + 1')
      return original(bucket, items, end)
    }
    await sweep()
    expect(await rows(database, 'select times from unsettled')).toEqual([{ times: 2 }])
  })

  it('wakes an order whose time to be paid is over', async () => {
    const database = await open()
    const { shop } = moody(database)
    const terms = { amount_minor: 2_000n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }
    const expires_at = new Date(Date.now() - 1_000).toISOString()
    await shop.paidonce.orders.register({ reference: 'A-1', ...terms, expires_at })
    await shop.paidonce.orders.register({ reference: 'A-2', ...terms })
    await database.script(`update orders set status = 'awaiting_payment', next_wakeup_at = '${expires_at}'
      where reference = 'A-1'`)
    expect(await sweeper(shop).sweep()).toEqual({ settled: 0, kept: 0, woken: 1 })
    expect(await rows(database, 'select reference, status from orders order by 1')).toEqual([
      { reference: 'A-1', status: 'expired' },
      { reference: 'A-2', status: 'awaiting_payment' },
    ])
    expect(await sweeper(shop).sweep()).toEqual({ settled: 0, kept: 0, woken: 0 })
    expect((await audit(database)).differences).toEqual([])
  })

  it('P11 puts off a mark whose endpoint is no longer configured', async () => {
    const database = await open()
    const { shop } = moody(database)
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    const other = openShop(database, { options: { endpoints: {} } })
    expect(await sweeper(other).sweep()).toEqual({ settled: 0, kept: 1, woken: 0 })
    expect(await rows(database, 'select last_error from unsettled')).toEqual([
      { last_error: 'no endpoint stripe is configured' },
    ])
  })
})

withPostgres('what is kept', (open) => {
  it('P57 a hook that takes too long is left out, and nothing of it is committed', async () => {
    const database = await open()
    const mood = { slow: true }
    const hook: OnEntitlement = async (_change, tx) => {
      if (mood.slow) await tx.query('select pg_sleep(30)')
    }
    const shop = openShop(database, { options: { onEntitlement: hook, limits: { hook_limit_ms: 50 } } })
    await shop.order('A-1')
    expect(await shop.deliver(stripeEvents.chargeSucceeded(SALE))).toBe(200)
    expect(await rows(database, 'select state from events')).toEqual([{ state: 'kept' }])
    mood.slow = false
    expect(await sweeper(shop).sweep()).toEqual({ settled: 1, kept: 0, woken: 0 })
    expect((await audit(database)).differences).toEqual([])
  })

  it('P11 two sweepers share the marks: each is answered once', async () => {
    const database = await open()
    const { shop, mood } = moody(database)
    for (let n = 1; n <= 6; n += 1) {
      await shop.order(`A-${n}`)
      await shop.deliver(stripeEvents.chargeSucceeded({ ...SALE, payment: `pi_${n}`, order: `A-${n}` }))
    }
    mood.failing = false
    const swept = await Promise.all([
      sweeper(shop, { batch: 2 }).sweep(),
      sweeper(shop, { batch: 2 }).sweep(),
    ])
    expect(swept.reduce((sum, { settled }) => sum + settled, 0)).toBe(6)
    expect(await rows(database, 'select revision from entitlements')).toEqual(Array(6).fill({ revision: 1n }))
  })

  it('takes a mark again when the sweeper that had it is gone', async () => {
    const database = await open()
    const { shop, mood } = moody(database)
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    mood.failing = false
    const { settler, endpoints } = shop.paidonce
    const context = { ...settler.context }
    // One that dies between leasing and settling.
    await database.script(
      `update unsettled set attempts = 1, next_attempt_at = now() + interval '30 seconds'`,
    )
    const early = new KeptSweeper(settler, endpoints, 1, () => Date.now())
    expect(await early.runOnce()).toEqual({ settled: 0, kept: 0, woken: 0 })
    const late = new KeptSweeper(settler, endpoints, 1, () => Date.now() + 31_000)
    expect(await late.runOnce()).toEqual({ settled: 1, kept: 0, woken: 0 })
    await settle(context, 0, [], SETTLE_DEFAULTS)
  })
})
