import { describe, expect, it } from 'vitest'
import { book, paid } from '../../test/history/shorthand.ts'
import type { EntitlementState } from '../facts/entitlement.ts'
import { deriveOrder } from './derive-order.ts'
import type { OneShotBefore } from './one-shots.ts'
import type { OrderState } from './order-state.ts'
import { type EntitlementBefore, planEffects } from './plan-effects.ts'

const ITEM = 'licence'

function target(state: EntitlementState | 'held', quantity = 1): OrderState {
  const { due_minor, currency, ...rest } = deriveOrder('A-17', book(), [paid('a')], '2025-03-10T00:00:00Z')
  return { ...rest, due_minor, currency, entitlements: [{ item: ITEM, quantity, state }] }
}

function row(state: EntitlementState, revision: number, item = ITEM): EntitlementBefore {
  return { item, quantity: 1, state, revision }
}

function plan(before: EntitlementBefore[], wanted: OrderState, sent: OneShotBefore[] = []) {
  return planEffects({ reference: 'A-17', before, sent }, wanted)
}

/** Written and taken by nobody yet. */
const RECEIPT: OneShotBefore = {
  topic: 'receipt.due',
  cause: 'order',
  state: 'due',
  attempts: 0,
  payload: {},
}

describe('one item', () => {
  // before, wanted -> written [state, revision] or nothing, announced, receipt due, receipt withdrawn
  const rows: [
    EntitlementBefore | null,
    EntitlementState | 'held',
    [EntitlementState, number] | null,
    boolean,
    boolean,
    boolean,
  ][] = [
    [null, 'none', null, false, false, false],
    [null, 'granted', ['granted', 1], true, true, false],
    [null, 'revoked', ['revoked', 0], false, false, false],
    [null, 'suspended', ['suspended', 0], false, false, false],
    [null, 'held', null, false, false, false],
    [row('revoked', 0), 'revoked', null, false, false, false],
    [row('suspended', 0), 'revoked', ['revoked', 0], false, false, false],
    [row('revoked', 0), 'granted', ['granted', 1], true, true, false],
    [row('granted', 1), 'granted', null, false, false, false],
    [row('granted', 1), 'held', null, false, false, false],
    [row('granted', 1), 'suspended', ['suspended', 2], true, false, true],
    [row('granted', 1), 'revoked', ['revoked', 2], true, false, true],
    [row('granted', 1), 'none', ['none', 2], true, false, true],
    [row('suspended', 2), 'revoked', ['revoked', 3], true, false, false],
    [row('suspended', 2), 'granted', ['granted', 3], true, true, false],
    [row('revoked', 2), 'granted', ['granted', 3], true, true, false],
  ]
  for (const [before, wanted, written, announced, receipt, withdrawn] of rows) {
    it(`${before ? `${before.state} at revision ${before.revision}` : 'no row'} -> ${wanted}`, () => {
      const sent = before?.state === 'granted' ? [RECEIPT] : []
      const { entitlements, effects, withdrawn: back } = plan(before ? [before] : [], target(wanted), sent)
      expect(entitlements.map((change) => [change.state, change.revision])).toEqual(written ? [written] : [])
      expect(entitlements.some((change) => change.changed)).toBe(announced)
      expect(effects.filter((effect) => effect.type === 'level')).toHaveLength(announced ? 1 : 0)
      expect(effects.some((effect) => effect.topic === 'receipt.due')).toBe(receipt)
      expect(back).toEqual(withdrawn ? [{ topic: 'receipt.due', cause: 'order' }] : [])
    })
  }

  it('P22 case-27 a refund known before the payment ends where the late one does, and announces nothing', () => {
    const refunded = deriveOrder(
      'A-17',
      book(),
      [paid('a', { refunded_minor: 10000n })],
      '2025-03-10T00:00:00Z',
    )
    const at_once = plan([], refunded)
    const afterwards = plan([row('granted', 1)], refunded)
    expect(at_once.entitlements[0]?.state).toBe('revoked')
    expect(afterwards.entitlements[0]?.state).toBe('revoked')
    expect(at_once.effects).toEqual([])
  })

  it('announces another quantity of a right that is held', () => {
    const { entitlements } = plan([row('granted', 1)], target('granted', 5))
    expect(entitlements).toEqual([{ item: ITEM, quantity: 5, state: 'granted', revision: 2, changed: true }])
  })
})

describe('several items', () => {
  const two = (first: EntitlementState, second: EntitlementState): OrderState => ({
    ...target(first),
    entitlements: [
      { item: ITEM, quantity: 1, state: first },
      { item: 'seat', quantity: 3, state: second },
    ],
  })

  it('P15 gives one receipt for the order, with its exact amount as text', () => {
    const { effects } = plan([], two('granted', 'granted'))
    expect(effects.filter((effect) => effect.type === 'one_shot')).toEqual([
      {
        type: 'one_shot',
        topic: 'receipt.due',
        item: '-',
        cause: 'order',
        lane: 'messages',
        payload: { order: 'A-17', amount_minor: '10000', currency: 'USD', paid_minor: '10000' },
        delay_ms: 0,
      },
    ])
    expect(effects.filter((effect) => effect.type === 'level').map((effect) => effect.item)).toEqual([
      ITEM,
      'seat',
    ])
  })

  it('waits with the receipt until every item is granted', () => {
    expect(plan([], two('granted', 'none')).effects.map((effect) => effect.topic)).toEqual([
      'entitlement.changed',
    ])
  })

  it('takes an item that corrected terms no longer name, but not while anything is held or unknown', () => {
    const before = [row('granted', 1), row('granted', 1, 'old')]
    expect(plan(before, target('granted')).entitlements).toEqual([
      { item: 'old', quantity: 1, state: 'revoked', revision: 2, changed: true },
    ])
    expect(plan(before, target('held')).entitlements).toEqual([])
    expect(plan(before, { ...target('granted'), entitlements: [] }).entitlements).toEqual([])
  })
})
