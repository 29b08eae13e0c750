import { beforeEach, expect, it } from 'vitest'
import { withDatabases, withPostgres } from '../../test/database.ts'
import { BUCKET, Merchant } from '../../test/merchant.ts'
import type { OrderTerms } from '../facts/order.ts'
import { paymentMilestone } from '../facts/payment.ts'
import type { Database, Transaction } from '../store/database.ts'
import { insertOrders } from '../store/queries/insert-orders.ts'
import { lockOrders } from '../store/queries/lock-orders.ts'
import { SETTLE_DEFAULTS, settle } from './settle.ts'

// Each trap is put back in plain SQL and seen to fail, and our own statements stand beside it.

const TERMS: OrderTerms = { amount_minor: 100n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }
const NOW = new Date('2026-01-01T00:00:00Z')

const waiting = {
  name: 'test-waiting',
  text: `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
}

async function untilWaiting(database: Database): Promise<void> {
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; ) {
    const [row] = await database.query<{ waiting: number }>(waiting)
    if (row!.waiting > 0) return
  }
  throw new Error('Nobody came to wait for a lock.')
}

function run<Row = Record<string, unknown>>(transaction: Transaction, text: string): Promise<Row[]> {
  return transaction.query<Row>({ name: '', text })
}

withPostgres('the traps of locking', (open) => {
  beforeEach(async () => {
    const database = await open()
    await database.script(`
      drop table if exists public.trap_facts; drop table if exists public.trap_orders;
      create table public.trap_orders (id int primary key generated always as identity, reference text unique);
      create table public.trap_facts (order_id int references public.trap_orders, fact text);
      insert into public.trap_orders (reference) values ('A')`)
  })

  it('a load in the same statement as the lock reads what was there before the wait', async () => {
    const database = await open()
    const first = await database.begin()
    const second = await database.begin()
    try {
      await run(first, 'select 1 from public.trap_orders for no key update')
      const together = run(
        second,
        `with locked as (select id from public.trap_orders for no key update)
         select f.fact from locked join public.trap_facts f on f.order_id = locked.id`,
      )
      await untilWaiting(database)
      await run(first, `insert into public.trap_facts values (1, 'paid')`)
      await first.commit()
      expect(await together).toEqual([])
      expect(await run(second, 'select fact from public.trap_facts')).toEqual([{ fact: 'paid' }])
    } finally {
      await first.rollback()
      await second.rollback()
    }
  })

  it('P19 our settle, having waited for the lock, sees what was committed meanwhile', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    await merchant.settle(merchant.order('A', TERMS))
    const half = (id: string) =>
      merchant.event(`evt_${id}`, [
        paymentMilestone(merchant.payment(`pi_${id}`), {
          milestone: 'succeeded',
          amount_minor: 50n,
          currency: 'USD',
          order: 'A',
        }),
      ])
    let second: Promise<unknown> = Promise.resolve()
    const onBoundary = async (boundary: string) => {
      if (boundary !== 'locked') return
      second = settle(merchant.context, BUCKET, [half('2')], { ...SETTLE_DEFAULTS, lock_timeout_ms: 10_000 })
      await untilWaiting(database)
    }
    await settle(merchant.context, BUCKET, [half('1')], { ...SETTLE_DEFAULTS, onBoundary })
    await second
    expect(await merchant.rights()).toEqual(['A licence granted'])
  })

  it('a lock in the same statement as the insert can find no row at all', async () => {
    const database = await open()
    const first = await database.begin()
    const second = await database.begin()
    const together = `with inserted as (insert into public.trap_orders (reference) values ('B') on conflict do nothing returning id)
      select o.id from public.trap_orders o left join inserted on true where o.reference = 'B' for no key update of o`
    try {
      await run(first, `insert into public.trap_orders (reference) values ('B')`)
      const found = run(second, together)
      await untilWaiting(database)
      await first.commit()
      expect(await found).toEqual([])
      const apart = `select reference from public.trap_orders where reference = 'B' for no key update`
      expect(await run(second, apart)).toEqual([{ reference: 'B' }])
    } finally {
      await first.rollback()
      await second.rollback()
    }
  })

  it('P25 our placeholder is found by whoever waited for its insert', async () => {
    const database = await open()
    const key = { tenant: 'trap', reference: 'A' }
    const first = await database.begin()
    const second = await database.begin()
    try {
      await insertOrders(first, BUCKET, NOW, [key])
      const inserted = insertOrders(second, BUCKET, NOW, [key])
      await untilWaiting(database)
      await first.commit()
      expect((await inserted).size).toBe(0)
      expect(await lockOrders(second, BUCKET, [key])).toMatchObject([key])
    } finally {
      await first.rollback()
      await second.rollback()
    }
  })

  it('facts that refer to a row before it is locked deadlock, and afterwards do not', async () => {
    const database = await open()
    const fact = `insert into public.trap_facts values (1, 'paid')`
    const lock = 'select 1 from public.trap_orders where id = 1 for update'
    const both = async (before: string, after: string) => {
      const first = await database.begin()
      const second = await database.begin()
      try {
        await run(first, before)
        const other = run(second, before).then(() => run(second, after))
        if (before === fact) await untilWaitingOrDone(database, other)
        else await untilWaiting(database)
        const own = run(first, after).then(() => first.commit())
        const ends = await Promise.allSettled([own, other])
        return ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason.code)
      } finally {
        await first.rollback()
        await second.rollback()
      }
    }
    expect(await both(fact, lock)).toEqual(['40P01'])
    expect(await both(lock, fact)).toEqual([])
  })

  it('P19 under REPEATABLE READ a settle that waited fails aloud instead of deriving from an old snapshot', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    const strict: Database = Object.assign(Object.create(database) as Database, {
      begin: async (options?: { lock_timeout_ms?: number }) => {
        const transaction = await database.begin(options)
        await transaction.script('set transaction isolation level repeatable read')
        return transaction
      },
    })
    const wrong = { ...merchant.context, database: strict }
    const told = (milestone: 'created' | 'succeeded' | 'failed', id: string) =>
      merchant.event(id, [
        paymentMilestone(merchant.payment('pi_1'), { milestone, amount_minor: 50n, currency: 'USD' }),
      ])
    await merchant.settle(told('created', 'evt_0'))
    let second: Promise<unknown> = Promise.resolve()
    const onBoundary = async (boundary: string) => {
      if (boundary !== 'derived') return
      const attempt = settle(wrong, BUCKET, [told('failed', 'evt_2')], {
        ...SETTLE_DEFAULTS,
        lock_timeout_ms: 10_000,
      })
      second = attempt.then(
        () => 'silence',
        (error: { code?: string }) => error.code,
      )
      await untilWaiting(database)
    }
    await settle(merchant.context, BUCKET, [told('succeeded', 'evt_1')], { ...SETTLE_DEFAULTS, onBoundary })
    expect(['40001', 'isolation_wrong']).toContain(await second)
    expect(await merchant.count('events where tenant = $1')).toBe(2)
    expect(await merchant.count(`payments where tenant = $1 and status = 'succeeded'`)).toBe(1)
  })
})

async function untilWaitingOrDone(database: Database, work: Promise<unknown>): Promise<void> {
  await Promise.race([untilWaiting(database), work.catch(() => undefined)])
}

withDatabases('a row that somebody changes without its lock', (open) => {
  for (const table of ['orders', 'payments']) {
    it(`P11 makes the settle fail aloud, and the event is kept: ${table}`, async () => {
      const database = await open()
      let meddling = true
      const merchant = new Merchant(database, {
        onEntitlement: async (change, tx) => {
          if (!meddling) return
          const update = `update paidonce.${table} set facts_rev = facts_rev + 1 where tenant = $1`
          await tx.query(update, [change.tenant])
        },
      })
      await merchant.settle(merchant.order('A', TERMS))
      const subject = merchant.payment('pi_1')
      const money = { amount_minor: 100n, currency: 'USD', order: 'A' }
      await merchant.settle(
        merchant.event('evt_0', [paymentMilestone(subject, { milestone: 'created', ...money })]),
      )
      const paid = merchant.event('evt_1', [paymentMilestone(subject, { milestone: 'succeeded', ...money })])
      expect(await merchant.outcomes(paid)).toEqual(['kept'])
      expect(await merchant.rights()).toEqual([])
      expect(await merchant.count(`payments where tenant = $1 and captured_minor = 100`)).toBe(1)
      meddling = false
      expect(await merchant.sweep()).toEqual(['settled'])
      expect(await merchant.rights()).toEqual(['A licence granted'])
    })
  }
})
