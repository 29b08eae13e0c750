import { expect, it } from 'vitest'
import { withDatabases, withPostgres } from '../../test/database.ts'
import { BUCKET, Merchant } from '../../test/merchant.ts'
import { administer } from '../../test/postgres.ts'
import type { OrderTerms } from '../facts/order.ts'
import { paymentMilestone } from '../facts/payment.ts'
import type { Database, Transaction } from '../store/database.ts'
import type { SettleItem } from './item.ts'
import { type Boundary, SETTLE_DEFAULTS, settle } from './settle.ts'
import type { SettleResult } from './settler.ts'

const TERMS: OrderTerms = { amount_minor: 100n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }
const BOUNDARIES: readonly Boundary[] = ['begun', 'recorded', 'locked', 'derived', 'written', 'committed']

function pay(merchant: Merchant, order: string, id = order) {
  const content = { milestone: 'succeeded', amount_minor: 100n, currency: 'USD', order } as const
  return merchant.event(`evt_${id}`, [paymentMilestone(merchant.payment(`pi_${order}`), content)])
}

/** Somebody else's transaction that runs this and stays open. */
async function holding(database: Database, text: string, values: string[]): Promise<Transaction> {
  const transaction = await database.begin()
  await transaction.query({ name: '', text }, values)
  return transaction
}

/** Settles a batch and says how each item ended and when, milliseconds since the start. */
async function timed(merchant: Merchant, items: readonly SettleItem[]) {
  const began = performance.now()
  const ends: { outcome: string; after_ms: number }[] = []
  let through: () => void = () => undefined
  const all = new Promise<void>((resolve) => {
    through = resolve
  })
  let open = items.length
  const end = (place: number, result: SettleResult) => {
    const outcome = 'fault' in result ? result.fault.code : result.outcome
    ends[place] = { outcome, after_ms: performance.now() - began }
    open -= 1
    if (open === 0) through()
  }
  const batch = merchant.settler.settleBatch(BUCKET, items, end)
  return { ends, batch, all }
}

const HELD: Record<string, [string, (tenant: string) => string[]]> = {
  'the order row': [
    'select 1 from orders where tenant = $1 and reference = $2 for update',
    (tenant) => [tenant, '8'],
  ],
  'the payment row': [
    `select 1 from payments where tenant = $1 and provider_payment_id = $2 for update`,
    (tenant) => [tenant, 'pi_7'],
  ],
  'a placeholder of the order that is not committed': [
    `insert into orders (bucket, facts_rev, created_at, updated_at, tenant, reference, status)
     values (0, 0, now(), now(), $1, $2, 'awaiting_terms')`,
    (tenant) => [tenant, 'new'],
  ],
  'the payment’s row, inserted and not committed': [
    `insert into payments (bucket, facts_rev, created_at, updated_at, tenant, namespace, account, provider_payment_id, status)
     values (0, 1, now(), now(), $1, 'stripe', 'default', $2, 'unknown')`,
    (tenant) => [tenant, 'pi_new'],
  ],
}

withPostgres('a lock that someone else holds', (open) => {
  for (const [what, [text, values]] of Object.entries(HELD)) {
    for (const released of [true, false]) {
      const end = released ? 'and lets go of' : 'and keeps'
      it(`P49 P11 on ${what}, ${end}, does not stall the other 49 items of the batch`, async () => {
        const database = await open()
        const merchant = new Merchant(database, { lane_lock_timeout_ms: released ? 10_000 : 500 })
        const ids = Array.from({ length: 49 }, (_, index) => `${index}`)
        await merchant.settle(...ids.map((id) => merchant.order(id, TERMS)), pay(merchant, '7', 'before'))
        const blocked = what.includes('not committed') ? 'new' : what === 'the order row' ? '8' : '7'
        const others = ids.filter((id) => id !== blocked)
        const holder = await holding(database, text, values(merchant.tenant))
        try {
          const again = paymentMilestone(merchant.payment(`pi_${blocked}`), {
            milestone: 'succeeded',
            attempt: 'ch_2',
            amount_minor: 100n,
            currency: 'USD',
            order: blocked,
          })
          const item = merchant.event(`evt_blocked`, [again])
          const items = [...others.slice(0, 20), ...others.slice(20)].map((id) => pay(merchant, id))
          items.splice(20, 0, item)
          const { ends, batch, all } = await timed(merchant, items)
          await batch
          for (const [place, ended] of ends.entries()) {
            if (place === 20) continue
            expect(ended.outcome).toBe('settled')
            expect(ended.after_ms).toBeLessThan(3_000)
          }
          if (released) await holder.rollback()
          await all
          expect(ends[20]!.outcome).toBe(released ? 'settled' : 'kept')
        } finally {
          await holder.rollback()
        }
        for (const outcome of await merchant.sweep()) expect(outcome).toBe('settled')
        expect(await merchant.count('unsettled where tenant = $1')).toBe(0)
        const paid = `payments where tenant = $1 and captured_minor = 100 and order_refs <> '{}'`
        expect(await merchant.count(paid)).toBe(blocked === 'new' ? 50 : 49)
        expect(await merchant.rights()).toHaveLength(49)
      })
    }
  }

  it('P49 on one order, that a whole burst is about, does not hold the burst for long', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    await merchant.settle(merchant.order('8', TERMS), merchant.order('9', TERMS))
    const [text, values] = HELD['the order row']!
    const holder = await holding(database, text, values(merchant.tenant))
    try {
      const items = Array.from({ length: 64 }, (_, index) =>
        merchant.event(`evt_burst_${index}`, [
          paymentMilestone(merchant.payment(`pi_burst_${index}`), { milestone: 'created', order: '8' }),
        ]),
      )
      const { ends, all } = await timed(merchant, [...items, pay(merchant, '9', 'nine')])
      await all
      expect(ends.at(-1)!.outcome).toBe('settled')
      for (const { outcome, after_ms } of ends) {
        expect(['kept', 'settled']).toContain(outcome)
        expect(after_ms).toBeLessThan(8_000)
      }
    } finally {
      await holder.rollback()
    }
  })

  it('P12 on an order that the merchant registers is a fault that says to try again, also when all lanes are taken', async () => {
    const database = await open()
    for (const lanes of [0, 1]) {
      const merchant = new Merchant(database, { lanes, lane_lock_timeout_ms: 100 })
      await merchant.settle(pay(merchant, '8'))
      const [text, values] = HELD['the order row']!
      const holder = await holding(database, text, values(merchant.tenant))
      try {
        expect(await merchant.outcomes(merchant.order('8', TERMS))).toEqual(['database_busy'])
      } finally {
        await holder.rollback()
      }
      expect(await merchant.outcomes(merchant.order('8', TERMS))).toEqual(['settled'])
      expect(await merchant.rights()).toEqual(['8 licence granted'])
    }
  })

  it('P10 case-12 on the same event, which another process has not committed, ends as its duplicate', async () => {
    const database = await open()
    const merchant = new Merchant(database, { batch_lock_timeout_ms: 5_000 })
    await merchant.settle(merchant.order('A', TERMS))
    for (const committed of [true, false]) {
      const first = new Merchant(database, {
        tenant: merchant.tenant,
        onBoundary: async (boundary) => {
          if (boundary !== 'written') return
          waiting = merchant.outcomes(pay(merchant, 'A', `${committed}`))
          await blockedSession(database)
          if (!committed) throw new Error('the first process dies')
        },
      })
      let waiting: Promise<string[]> = Promise.resolve([])
      const own = await first.settler
        .settleOne(BUCKET, pay(first, 'A', `${committed}`))
        .catch((error: { code: string }) => error.code)
      expect([own, ...(await waiting)]).toEqual(
        committed ? ['settled', 'duplicate'] : [expect.any(String), 'settled'],
      )
    }
    expect(await merchant.rights()).toEqual(['A licence granted'])
    expect(await merchant.effects()).toEqual(['entitlement.changed licence 1 due', 'receipt.due - 0 due'])
  })
})

const CROSSED: Record<string, [string, (tenant: string) => string[]]> = {
  events: [
    `insert into events (bucket, tenant, provider, account, mode, event_key, key_kind, endpoint, type, state, reason, secret_label,
       adapter_version, received_at, digest)
     values (0, $1, 'stripe', 'default', 'test', $2, 'id', 'stripe', 'test', 'settled', '', '', 1, now(), decode(repeat('00', 32), 'hex'))`,
    (tenant) => [tenant, 'evt_2'],
  ],
  payments: [HELD['the payment row']![0], (tenant) => [tenant, 'pi_2']],
  orders: [HELD['the order row']![0], (tenant) => [tenant, '2']],
}

withPostgres('two batches that name the same rows in opposite order', (open) => {
  for (const [what, [text, values]] of Object.entries(CROSSED)) {
    it(`P19 case-55 lock ${what} in one order and wait for each other, instead of deadlocking`, async () => {
      const database = await open()
      const merchant = new Merchant(database)
      const ids = ['1', '2', '3']
      await merchant.settle(...ids.map((id) => merchant.order(id, TERMS)))
      await merchant.settle(...ids.map((id) => pay(merchant, id, `before_${id}`)))
      // Each session takes what stands before the held row in its own order; once that is free, they meet.
      const holder = await holding(database, text, values(merchant.tenant))
      const batch = (name: string, order: readonly string[]) =>
        order.map((id) => {
          // Events that are the same, or payments, or payments of their own for the same orders.
          if (what !== 'orders') return pay(merchant, id, what === 'events' ? id : `${name}_${id}`)
          const subject = merchant.payment(`pi_${name}_${id}`)
          return merchant.event(`evt_${name}_${id}`, [
            paymentMilestone(subject, { milestone: 'created', order: id }),
          ])
        })
      const calm = { ...SETTLE_DEFAULTS, lock_timeout_ms: 10_000 }
      const both = [
        settle(merchant.context, BUCKET, batch('first', ids), calm),
        settle(merchant.context, BUCKET, batch('second', ids.toReversed()), calm),
      ]
      const ends = Promise.allSettled(both)
      await blockedSession(database, 2)
      await holder.rollback()
      expect((await ends).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    })
  }
})

/** Resolves when so many sessions of this database wait for a lock. */
async function blockedSession(database: Database, sessions = 1): Promise<void> {
  const look = {
    name: 'test-blocked',
    text: `select count(*)::int as blocked from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  }
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; ) {
    const [row] = await database.query<{ blocked: number }>(look)
    if (row!.blocked >= sessions) return
  }
  throw new Error('No session came to wait for a lock.')
}

withPostgres('deadlocks', (open) => {
  it('P11 P19 case-55 with a merchant’s transaction that locks in the other order are repeated whole, 200 times', {
    timeout: 120_000,
  }, async () => {
    // Ours notices first, so it is ours that the server ends.
    const database = await open({ apart: true, max: 4, settings: { deadlock_timeout: '50ms' } })
    const others = await open({
      apart: true,
      max: 2,
      settings: { deadlock_timeout: '10s', lock_timeout: '2s' },
    })
    await database.script('create table if not exists public.stock (tenant text, item text, taken int)')
    let begun = 0
    let missed = 0
    const merchant = new Merchant(database, {
      batch_lock_timeout_ms: 10_000,
      hook_limit_ms: 10_000,
      onEntitlement: async (change, tx) => {
        await tx.query('update stock set taken = taken + 1 where tenant = $1', [change.tenant])
      },
      onBoundary: (boundary) => {
        begun += boundary === 'begun' ? 1 : 0
      },
    })
    await merchant.rows(`insert into public.stock values ($1, 'licence', 0)`, [merchant.tenant])
    const rounds = Array.from({ length: 200 }, (_, index) => `${index}`)
    await merchant.settle(...rounds.map((id) => merchant.order(id, TERMS)))
    begun = 0
    for (const id of rounds) {
      const other = await holding(others, 'update public.stock set taken = taken where tenant = $1', [
        merchant.tenant,
      ])
      const settling = merchant.outcomes(pay(merchant, id))
      await blockedSession(others)
      const lock = 'select 1 from orders where tenant = $1 and reference = $2 for update'
      // The server looks for a deadlock once per wait. On a busy machine ours may have been looked at before the other's
      // wait began; then the other gives up, and there was none.
      await other.query({ name: '', text: lock }, [merchant.tenant, id]).then(
        () => other.commit(),
        () => {
          missed += 1
          return other.rollback()
        },
      )
      expect(await settling).toEqual(['settled'])
    }
    expect(missed).toBeLessThan(100)
    expect(begun).toBeGreaterThanOrEqual(400 - missed)
    expect(await merchant.rights()).toHaveLength(200)
    expect(await merchant.count(`payments where tenant = $1 and captured_minor = 100`)).toBe(200)
    const [stock] = await merchant.rows<{ taken: number }>(
      'select taken from public.stock where tenant = $1',
      [merchant.tenant],
    )
    expect(stock!.taken).toBe(200)
  })
})

withDatabases('an item that cannot be settled', (open) => {
  it('P11 case-57 is isolated from its 49 neighbours and kept', async () => {
    const merchant = new Merchant(await open())
    const ids = Array.from({ length: 49 }, (_, index) => `${index}`)
    await merchant.settle(...ids.map((id) => merchant.order(id, TERMS)))
    const poison = merchant.event('evt_poison', [
      // A fact that no adapter makes: the rules throw on it.
      paymentMilestone(merchant.payment('pi_poison'), {
        milestone: 'succeeded',
        amount_minor: 'ten' as never,
        currency: 'USD',
      }),
    ])
    for (const place of [0, 20, 49]) {
      const items = ids.map((id) => pay(merchant, id, `${id}_${place}`))
      items.splice(place, 0, place === 0 ? poison : merchant.event(`evt_poison_${place}`, poison.facts))
      const outcomes = await merchant.outcomes(...items)
      expect(outcomes[place]).toBe('kept')
      expect(new Set(outcomes.filter((_, index) => index !== place))).toEqual(new Set(['settled']))
    }
    expect(await merchant.rights()).toHaveLength(49)
    expect(await merchant.count(`unsettled where tenant = $1`)).toBe(3)
    expect(await merchant.outcomes(poison)).toEqual(['duplicate'])
  })

  it('P12 is refused and nothing of it is written when not even its event can be', async () => {
    const merchant = new Merchant(await open())
    await merchant.settle(merchant.order('A', TERMS))
    const outcomes = await merchant.outcomes(
      merchant.event('evt_1', [], { type: 'with a NUL \u0000 byte' }),
      pay(merchant, 'A'),
    )
    expect(outcomes).toEqual(['settle_failed', 'settled'])
    expect(await merchant.count('events where tenant = $1')).toBe(1)
  })
})

withPostgres('a connection that is killed', (open, url) => {
  for (const killed of BOUNDARIES) {
    it(`P11 P12 when ${killed} leaves nothing half done, and a redelivery completes it`, async () => {
      const database = await open()
      let kills = 0
      const onBoundary = async (boundary: Boundary) => {
        if (boundary !== killed || kills > 0) return
        kills += 1
        await administer(
          url(),
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
        )
      }
      const merchant = new Merchant(database, { onBoundary })
      const items = ['A', 'B', 'C'].map((id) => pay(merchant, id))
      const calm = new Merchant(database, { tenant: merchant.tenant })
      await calm.settle(...['A', 'B', 'C'].map((id) => calm.order(id, TERMS)))
      const outcomes = await merchant.outcomes(...items)
      expect(kills).toBe(1)
      const written = killed === 'committed'
      for (const outcome of outcomes) expect(outcome).toBe(written ? 'settled' : 'database_unavailable')
      expect(await calm.count('payments where tenant = $1')).toBe(written ? 3 : 0)
      expect(await calm.count('events where tenant = $1')).toBe(written ? 3 : 0)
      for (const outcome of await merchant.outcomes(...items)) {
        expect(outcome).toBe(written ? 'duplicate' : 'settled')
      }
      expect(await calm.rights()).toHaveLength(3)
      expect(await calm.effects()).toHaveLength(6)
    })
  }
})
