import { describe, expect, it } from 'vitest'
import { ORDER, terms } from '../../test/history/shorthand.ts'
import { decision } from '../facts/decision.ts'
import type { Fact } from '../facts/fact.ts'
import { orderClosed } from '../facts/order.ts'
import { deriveOrderBook } from './derive-order-book.ts'
import type { OrderBook } from './order-state.ts'
import { DEFAULT_POLICY } from './policy.ts'

function derive(...facts: readonly Fact[]): OrderBook {
  const known = deriveOrderBook(facts)
  expect(deriveOrderBook([...facts, ...facts].reverse())).toEqual(known)
  return known
}

const closedAt = (at: string, how: 'canceled' | 'expired' = 'canceled') =>
  orderClosed(ORDER, { how, by: 'timer', at })

describe('terms', () => {
  it('are null for a placeholder', () => {
    expect(derive()).toEqual({ terms: null, closed: null, decisions: [], conflicted: false })
  })

  it('pin the policy that they were registered with', () => {
    expect(derive(terms(500n, { policy: { full_refund: 'keep' } })).terms).toEqual({
      amount_minor: 500n,
      currency: 'USD',
      items: [{ item: 'licence', quantity: 1 }],
      expires_at: null,
      account: null,
      policy: { ...DEFAULT_POLICY, full_refund: 'keep' },
    })
  })

  it('are the same whatever the order of their items, and add up one item on two lines', () => {
    const [a, b] = [
      { item: 'a', quantity: 1 },
      { item: 'b', quantity: 2 },
    ]
    const known = derive(terms(500n, { items: [a!, b!] }), terms(500n, { items: [b!, a!] }))
    expect(known).toMatchObject({ conflicted: false, terms: { items: [a, b] } })
    expect(derive(terms(500n, { items: [a!, a!] })).terms?.items).toEqual([{ item: 'a', quantity: 2 }])
  })

  it('P14 that contradict each other are none', () => {
    expect(derive(terms(500n), terms(600n))).toMatchObject({ terms: null, conflicted: true })
  })
})

describe('closing', () => {
  it('counts from the first time, however often it is told', () => {
    const [first, second] = ['2025-03-01T10:00:00Z', '2025-03-02T10:00:00Z']
    expect(derive(closedAt(second), closedAt(first), closedAt(second, 'expired'))).toMatchObject({
      conflicted: false,
      closed: { how: 'canceled', by: 'timer', at: first },
    })
  })
})

describe('decisions', () => {
  const decide = (id: string, at: string, supersedes?: string) =>
    decision(ORDER, {
      id,
      decision: 'write_off',
      actor: 'ann',
      reason: 'agreed',
      at,
      based_on: 'x',
      ...(supersedes ? { supersedes } : {}),
    })

  it('stand until another one takes them back, oldest first', () => {
    const [d1, d2] = [decide('d1', '2025-03-02T10:00:00Z'), decide('d2', '2025-03-01T10:00:00Z')]
    expect(derive(d1, d2).decisions.map(({ id }) => id)).toEqual(['d2', 'd1'])
    expect(derive(d1, d2, decide('d3', '2025-03-03T10:00:00Z', 'd1')).decisions.map(({ id }) => id)).toEqual([
      'd2',
      'd3',
    ])
  })
})
