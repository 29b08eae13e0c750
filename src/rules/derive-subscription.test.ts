import { describe, expect, it } from 'vitest'
import type { Fact } from '../facts/fact.ts'
import type { SubscriptionSubject } from '../facts/subject.ts'
import {
  type SubscriptionStatus,
  type SubscriptionStatusReached,
  subscriptionStatus,
} from '../facts/subscription.ts'
import { deriveSubscription } from './derive-subscription.ts'
import type { SubscriptionState } from './subscription-state.ts'

const SUBJECT: SubscriptionSubject = {
  kind: 'subscription',
  namespace: 'stripe',
  account: 'default',
  id: 'sub_1',
}

function told(
  second: number,
  status: SubscriptionStatus,
  more: Partial<SubscriptionStatusReached> = {},
): Fact {
  const at = `2025-03-01T10:00:${`${second}`.padStart(2, '0')}Z`
  return subscriptionStatus(SUBJECT, { status, at, ...more })
}

function derive(...facts: readonly Fact[]): SubscriptionState {
  const state = deriveSubscription(facts)
  expect(deriveSubscription([...facts].reverse())).toEqual(state)
  expect(deriveSubscription([...facts, ...facts])).toEqual(state)
  return state
}

const [P1, P2] = ['2025-04-01T00:00:00Z', '2025-05-01T00:00:00Z']

describe('status', () => {
  const rows: [string, Fact[], SubscriptionState['status']][] = [
    ['nothing known', [], 'unknown'],
    ['the newest', [told(5, 'past_due'), told(1, 'active')], 'past_due'],
    [
      'P53 a return to a former status',
      [told(1, 'active'), told(2, 'past_due'), told(3, 'active')],
      'active',
    ],
    ['P20 case-23 canceled, then an older update', [told(5, 'canceled'), told(1, 'active')], 'canceled'],
    ['P20 canceled, and a newer update', [told(1, 'canceled'), told(5, 'active')], 'canceled'],
    ['canceled and another status at one instant', [told(1, 'canceled'), told(1, 'active')], 'canceled'],
    ['canceled, then run out', [told(1, 'canceled'), told(5, 'expired')], 'expired'],
    ['seq-19 incomplete and active at one instant', [told(1, 'incomplete'), told(1, 'active')], 'active'],
    ['seq-20 two others at one instant', [told(1, 'past_due'), told(1, 'active')], 'conflicted'],
    [
      'a tie that newer news has settled',
      [told(1, 'past_due'), told(1, 'active'), told(2, 'active')],
      'active',
    ],
  ]
  for (const [name, facts, status] of rows) {
    it(`${name}: ${status}`, () => {
      expect(derive(...facts).status).toBe(status)
    })
  }

  it('asks a person when two statuses are told for the newest instant', () => {
    const state = derive(told(1, 'past_due'), told(1, 'active'))
    expect(state).toMatchObject({ conflicted: true, exceptions: [{ kind: 'fact_conflict' }] })
  })
})

describe('period', () => {
  const rows: [string, Fact[], string | null][] = [
    [
      'P33 case-23 the latest of its unbroken run',
      [told(1, 'active', { period_end: P2 }), told(5, 'active', { period_end: P1 })],
      P2,
    ],
    [
      'case-23 two at one instant',
      [told(1, 'active', { period_end: P1 }), told(1, 'active', { period_end: P2 })],
      P2,
    ],
    [
      'of the present run, not of one before',
      [told(1, 'active', { period_end: P2 }), told(2, 'past_due'), told(3, 'active', { period_end: P1 })],
      P1,
    ],
    [
      'the last known where the newest tells none',
      [told(1, 'active', { period_end: P1 }), told(2, 'canceled')],
      P1,
    ],
    ['none told', [told(1, 'active')], null],
  ]
  for (const [name, facts, period_end] of rows) {
    it(name, () => {
      expect(derive(...facts)).toMatchObject({ period_end, conflicted: false })
    })
  }
})

describe('what else is told', () => {
  it('shows a planned end only while the newest statement tells it', () => {
    const planned = told(1, 'active', { cancel_at: P1 })
    expect(derive(planned).cancel_at).toBe(P1)
    expect(derive(planned, told(2, 'active')).cancel_at).toBeNull()
  })

  it('follows a change of plan', () => {
    const state = derive(
      told(1, 'active', { price: 'basic', product: 'p' }),
      told(2, 'active', { price: 'pro' }),
    )
    expect(state).toMatchObject({ price: 'pro', product: 'p' })
  })

  it('P14 two prices at the newest instant are a conflict', () => {
    const state = derive(told(1, 'active', { price: 'basic' }), told(1, 'active', { price: 'pro' }))
    expect(state.status).toBe('conflicted')
  })

  it('names every order that is told', () => {
    expect(derive(told(1, 'active', { order: 'A' })).order).toBe('A')
    expect(derive(told(1, 'active', { order: 'A' }), told(2, 'active', { order: 'B' }))).toMatchObject({
      order: null,
      orders_named: ['A', 'B'],
    })
  })
})
