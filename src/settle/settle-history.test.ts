import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { arrivals, historyArbitrary } from '../../test/history/arbitrary.ts'
import type { History, Message } from '../../test/history/history.ts'
import { deriveAll, factsOf, registration } from '../../test/history/outcome.ts'
import { runs } from '../../test/history/runs.ts'
import { BUCKET, Merchant } from '../../test/merchant.ts'
import { type Boundary, SETTLE_DEFAULTS, settle } from './settle.ts'

/** A history's messages and the registering of its orders. */
function everything(history: History): Message[] {
  return [...history.orders.map((order) => registration(order, '2025-03-01T00:00:00Z')), ...history.messages]
}

const arrived = historyArbitrary({ max_orders: 2 }).chain((told) =>
  arrivals(everything(told)).map((messages) => ({ told, messages })),
)
const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 })
const RUNS = 25

function* batches<T>(items: readonly T[], lengths: readonly number[]): Generator<T[]> {
  for (let start = 0, turn = 0; start < items.length; turn += 1) {
    const length = lengths[turn % lengths.length]!
    yield items.slice(start, start + length)
    start += length
  }
}

/** Whatever the road was: the rows are those of the pure derivation, and what was announced fits them. */
async function expectEnd(merchant: Merchant, told: History): Promise<void> {
  expect(await merchant.outcome()).toEqual(told.expected)
  expect(await rightsHeld(merchant)).toEqual(told.rights)
  const derived = deriveAll(factsOf(everything(told)), told.as_of)
  const due = [...derived.payments.values(), ...derived.orders.values(), ...derived.subscriptions.values()]
  expect(await merchant.exceptions()).toEqual(
    due.flatMap((state) => state.exceptions.map(({ kind, cause }) => `${kind} ${cause}`)).sort(),
  )
  expect(await merchant.count('unsettled where tenant = $1')).toBe(0)
  expect(await merchant.count(`events where tenant = $1 and state <> 'settled'`)).toBe(0)
  await expectEffects(merchant)
}

async function rightsHeld(merchant: Merchant): Promise<string[]> {
  const rows = await merchant.rows<{ held: string }>(
    `select concat_ws(' ', item, quantity, state) as held from rights where tenant = $1 and state <> 'none'`,
    [merchant.tenant],
  )
  return rows.map(({ held }) => held).sort()
}

/** Revisions of an item run from 1 without gaps up to the stored one, only the last may wait, and one receipt at most. */
async function expectEffects(merchant: Merchant): Promise<void> {
  const rows = await merchant.rows<{
    item: string
    announced: bigint[]
    waiting: bigint[]
    revision: bigint
  }>(
    `select e.item, e.revision,
       array(select f.revision from effects f where f.subject_id = e.order_id and f.item = e.item
         and f.topic = 'entitlement.changed' order by f.revision) as announced,
       array(select f.revision from effects f where f.subject_id = e.order_id and f.item = e.item
         and f.topic = 'entitlement.changed' and f.state = 'due') as waiting
     from entitlements e join orders o on o.id = e.order_id where o.tenant = $1`,
    [merchant.tenant],
  )
  for (const { announced, waiting, revision } of rows) {
    expect(announced).toEqual(Array.from({ length: Number(revision) }, (_, index) => BigInt(index + 1)))
    expect(waiting).toEqual(revision > 0n ? [revision] : [])
  }
  const receipts = `(select count(*) as receipts from effects where tenant = $1 and topic = 'receipt.due'
    group by subject_id) r where receipts > 1`
  expect(await merchant.count(receipts)).toBe(0)
}

withDatabases('settling made-up histories', (open) => {
  it('P19 P20 P15 ends as the rules say, in any order of arrival, number of copies and batching', async () => {
    const database = await open()
    await fc.assert(
      fc.asyncProperty(arrived, sizes, async ({ told, messages }, lengths) => {
        const merchant = new Merchant(database)
        for (const batch of batches(messages, lengths)) {
          const outcomes = await merchant.outcomes(...batch.map((message) => merchant.message(message)))
          for (const outcome of outcomes) expect(['settled', 'duplicate']).toContain(outcome)
        }
        await expectEnd(merchant, told)
      }),
      runs(RUNS, 'database'),
    )
  })

  it('P09 P15 case-15 changes nothing when everything is delivered once more', async () => {
    const database = await open()
    await fc.assert(
      fc.asyncProperty(arrived, async ({ told, messages }) => {
        const merchant = new Merchant(database)
        await merchant.outcomes(...messages.map((message) => merchant.message(message)))
        const before = await snapshot(merchant)
        // Another process: a settler that remembers nothing.
        const again = new Merchant(database, { tenant: merchant.tenant })
        const events = told.messages.map((message) => again.event(message.id, message.facts))
        for (const outcome of await again.outcomes(...events)) expect(outcome).toBe('duplicate')
        expect(await snapshot(merchant)).toEqual(before)
      }),
      runs(10, 'database'),
    )
  })

  it('P11 case-13 ends the same when it crashes at any boundary and everything is delivered again', async () => {
    const database = await open()
    const crash = fc.constantFrom<Boundary | 'none'>(
      'begun',
      'recorded',
      'locked',
      'derived',
      'written',
      'committed',
      'none',
    )
    const crashes = fc.array(crash, { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(arrived, sizes, crashes, async ({ told, messages }, lengths, where) => {
        const merchant = new Merchant(database)
        let turn = 0
        for (const batch of batches(messages, lengths)) {
          const crashed = where[turn++ % where.length]
          const onBoundary = (boundary: Boundary) => {
            if (boundary === crashed) throw new Error(`crashed when ${boundary}`)
          }
          const items = batch.map((message) => merchant.message(message))
          await settle(merchant.context, BUCKET, items, { ...SETTLE_DEFAULTS, onBoundary }).catch(
            () => undefined,
          )
        }
        await merchant.outcomes(...messages.map((message) => merchant.message(message)))
        await expectEnd(merchant, told)
      }),
      runs(RUNS, 'database'),
    )
  })

  it('P11 P57 ends the same when any part is kept at first and swept later', async () => {
    const database = await open()
    const depth = fc.constantFrom<'full' | 'payments' | 'event' | 'hook'>('full', 'payments', 'event', 'hook')
    const depths = fc.array(depth, { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(arrived, sizes, depths, async ({ told, messages }, lengths, how) => {
        let failing = false
        const onEntitlement = () => {
          if (failing) throw new Error('the hook fails')
        }
        const merchant = new Merchant(database, { onEntitlement, breaker_failures: Number.MAX_SAFE_INTEGER })
        let turn = 0
        for (const batch of batches(messages, lengths)) {
          const mode = how[turn++ % how.length]!
          failing = mode === 'hook'
          const items = batch.map((message) => merchant.message(message))
          if (mode === 'payments' || mode === 'event') {
            const events = items.filter((item) => item.event)
            await settle(merchant.context, BUCKET, events, {
              ...SETTLE_DEFAULTS,
              depth: mode,
              reason: 'kept',
            })
            await merchant.outcomes(...items.filter((item) => !item.event))
          } else {
            for (const outcome of await merchant.outcomes(...items)) {
              expect(['settled', 'duplicate', 'kept']).toContain(outcome)
            }
          }
        }
        failing = false
        for (const outcome of await merchant.sweep()) expect(outcome).toBe('settled')
        await expectEnd(merchant, told)
      }),
      runs(RUNS, 'database'),
    )
  })

  it('P25 P19 ends the same when the merchant’s own table gives the terms, also where hooks fail at first', async () => {
    const database = await open()
    const ways = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(arrived, sizes, ways, async ({ told, messages }, lengths, well) => {
        let failing = false
        const terms = new Map(told.orders.map((order) => [order.reference, order.terms]))
        const merchant = new Merchant(database, {
          breaker_failures: Number.MAX_SAFE_INTEGER,
          onEntitlement: () => {
            if (failing) throw new Error('the hook fails')
          },
          findOrders: async (references) =>
            new Map(
              references.flatMap((reference) => {
                const found = terms.get(reference)
                return found ? [[reference, found] as const] : []
              }),
            ),
        })
        let turn = 0
        const events = messages.filter((message) => !message.id.startsWith('registered '))
        for (const batch of batches(events, lengths)) {
          failing = !well[turn++ % well.length]!
          await merchant.outcomes(...batch.map((message) => merchant.message(message)))
        }
        failing = false
        for (const outcome of await merchant.sweep()) expect(outcome).toBe('settled')
        const { orders, ...rest } = await merchant.outcome()
        expect(rest).toEqual({ payments: told.expected.payments, subscriptions: told.expected.subscriptions })
        for (const [reference, end] of Object.entries(orders))
          expect(end).toEqual(told.expected.orders[reference])
        await expectEffects(merchant)
      }),
      runs(RUNS, 'database'),
    )
  })
})

withDatabases('settling in several processes at once', (open) => {
  it('P10 P19 case-12 ends the same, with one effect per event', { timeout: 120_000 }, async () => {
    const database = await open()
    await fc.assert(
      fc.asyncProperty(arrived, sizes, async ({ told, messages }, lengths) => {
        // However slow the machine is, a lock is waited for and nothing has to be kept.
        const patient = { lanes: 16, batch_lock_timeout_ms: 20_000, lane_lock_timeout_ms: 20_000 }
        const first = new Merchant(database, patient)
        const second = new Merchant(database, { ...patient, tenant: first.tenant })
        const third = new Merchant(database, { ...patient, tenant: first.tenant })
        const runs = [first, second, third].map(async (merchant, index) => {
          const mine = index === 1 ? [...messages].reverse() : messages
          for (const batch of batches(mine, lengths.slice(index % lengths.length))) {
            const outcomes = await merchant.outcomes(...batch.map((message) => merchant.message(message)))
            for (const outcome of outcomes) expect(['settled', 'duplicate']).toContain(outcome)
          }
        })
        await Promise.all(runs)
        await expectEnd(first, told)
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
  })
})

describe('the arrivals', () => {
  it('hold every message at least once', () => {
    fc.assert(
      fc.property(arrived, ({ told, messages }) => {
        expect(new Set(messages.map(({ id }) => id)).size).toBe(everything(told).length)
      }),
      runs(20, 'database'),
    )
  })
})

/** Everything that settling derives and announces, without the times at which it did. */
async function snapshot(merchant: Merchant): Promise<unknown> {
  const tables = {
    payments: 'select provider_payment_id, facts_rev, status, captured_minor from payments where tenant = $1',
    orders: 'select reference, facts_rev, effect_seq, status, payment_ids from orders where tenant = $1',
    effects: 'select subject_key, topic, item, cause, seq, state from effects where tenant = $1',
    exceptions: 'select kind, cause, state, occurrence from exceptions where tenant = $1',
    facts: 'select f.fact_key from facts f join payments p on p.id = f.subject_id where p.tenant = $1',
  }
  const read = async ([name, text]: [string, string]) => {
    const rows = await merchant.rows(text, [merchant.tenant])
    return [
      name,
      rows
        .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value)))
        .sort(),
    ]
  }
  return Object.fromEntries(await Promise.all(Object.entries(tables).map(read)))
}
