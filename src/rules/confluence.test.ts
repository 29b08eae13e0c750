import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrivals, historyArbitrary } from '../../test/history/arbitrary.ts'
import type { History, Message } from '../../test/history/history.ts'
import { Ledger } from '../../test/history/ledger.ts'
import { MUTANTS, type Mutant } from '../../test/history/mutants.ts'
import { deriveAll, factsOf, outcomeOf, registration } from '../../test/history/outcome.ts'
import { runs } from '../../test/history/runs.ts'

/** A history's messages and the registering of its orders. */
function everything(history: History): Message[] {
  return [...history.orders.map((order) => registration(order, '2025-03-01T00:00:00Z')), ...history.messages]
}

const history = historyArbitrary()
const arrived = history.chain((told) => arrivals(everything(told)).map((messages) => ({ told, messages })))

describe('legal histories', () => {
  it('P19 end as they must when told in the order in which things happened', () => {
    fc.assert(
      fc.property(history, (told) => {
        expect(outcomeOf(factsOf(everything(told)), told.as_of)).toEqual(told.expected)
      }),
      runs(400),
    )
  })

  it('P19 P20 end as they must in any order of arrival and any number of copies', () => {
    fc.assert(
      fc.property(arrived, ({ told, messages }) => {
        expect(outcomeOf(factsOf(messages), told.as_of)).toEqual(told.expected)
      }),
      runs(400),
    )
  })

  it('P19 derive the same whole state, exceptions included, from any arrangement of the same facts', () => {
    fc.assert(
      fc.property(arrived, ({ told, messages }) => {
        const once = deriveAll(factsOf(everything(told)), told.as_of)
        const twice = deriveAll([...factsOf(messages), ...factsOf(everything(told))], told.as_of)
        for (const room of ['payments', 'orders', 'subscriptions'] as const) {
          expect(Object.fromEntries(twice[room])).toEqual(Object.fromEntries(once[room]))
        }
      }),
      runs(200),
    )
  })

  it('P44 conserve money on every payment and every order, at any moment on the way', () => {
    fc.assert(
      fc.property(arrived, ({ told, messages }) => {
        for (const share of [0.25, 0.5, 0.75, 1]) {
          const seen = messages.slice(0, Math.ceil(messages.length * share))
          const { payments, orders } = deriveAll(factsOf(seen), told.as_of)
          for (const state of payments.values()) {
            const counted = state.refunds.filter(
              (refund) => refund.status === 'succeeded' && !refund.releases_authorization,
            )
            expect(state.refunded_minor).toBe(
              counted.reduce((sum, refund) => sum + (refund.amount_minor ?? 0n), 0n),
            )
            expect(state.lost_minor + state.disputed_minor >= 0n && state.reversed_minor >= 0n).toBe(true)
          }
          for (const state of orders.values()) {
            expect(
              state.surplus_minor === 0n || state.net_minor - state.surplus_minor >= state.due_minor,
            ).toBe(true)
          }
        }
        const { orders } = deriveAll(factsOf(messages), told.as_of)
        for (const [reference, state] of orders)
          expect(state.net_minor).toBe(told.expected.orders[reference]?.net_minor)
      }),
      runs(150),
    )
  })

  it('P29 facts about one order never change another', () => {
    const pair = fc.tuple(historyArbitrary({ prefix: 'x' }), historyArbitrary({ prefix: 'y' }))
    fc.assert(
      fc.property(pair, ([mine, foreign]) => {
        const together = deriveAll(
          [...factsOf(everything(foreign)), ...factsOf(everything(mine))],
          mine.as_of,
        )
        for (const [reference, state] of deriveAll(factsOf(everything(mine)), mine.as_of).orders) {
          expect(together.orders.get(reference)).toEqual(state)
        }
      }),
      runs(100),
    )
  })
})

describe('effects written on the way', () => {
  const settled = arrived.chain(({ told, messages }) =>
    fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 }).map((sizes) => ({
      told,
      ledger: settleInBatches(messages, sizes, told.as_of),
    })),
  )

  it('P19 leave the rights that the whole history gives, in any order and batching', () => {
    fc.assert(
      fc.property(settled, ({ told, ledger }) => {
        for (const { reference, terms } of told.orders) {
          const access = told.expected.orders[reference]!.access
          const rows = ledger.rows(reference)
          expect(rows.map((row) => row.state)).toEqual(
            access === 'none' && rows.length === 0 ? [] : terms.items.map(() => access),
          )
        }
      }),
      runs(150),
    )
  })

  it('P15 P34 are justified when written, one receipt per order at most, revisions without gaps', () => {
    fc.assert(
      fc.property(settled, ({ ledger }) => {
        const revisions = new Map<string, number>()
        const receipts = new Set<string>()
        for (const effect of ledger.effects) {
          const target = effect.order_state.entitlements.find(
            (entitlement) => entitlement.item === effect.item,
          )
          if (effect.topic === 'receipt.due') {
            expect(receipts.has(effect.order)).toBe(false)
            receipts.add(effect.order)
            expect(
              effect.order_state.entitlements.every((entitlement) => entitlement.state === 'granted'),
            ).toBe(true)
            continue
          }
          if (effect.topic === 'refund.due') {
            const causes = effect.order_state.refunds_due?.map(({ cause }) => cause)
            expect(causes).toContain(effect.cause)
            continue
          }
          expect(effect.announces).toBe(target?.state)
          const right = `${effect.order} ${effect.item}`
          expect(effect.revision).toBe((revisions.get(right) ?? 0) + 1)
          if (effect.revision === 1) expect(effect.announces).toBe('granted')
          revisions.set(right, effect.revision)
        }
      }),
      runs(150),
    )
  })
})

function settleInBatches(messages: readonly Message[], sizes: readonly number[], as_of: string): Ledger {
  const ledger = new Ledger(as_of)
  for (let start = 0, turn = 0; start < messages.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    ledger.settle(messages.slice(start, start + size))
    start += size
  }
  return ledger
}

describe('known bugs put back', () => {
  const holds = (mutant: Mutant) =>
    fc.check(
      fc.property(arrived, ({ told, messages }) => {
        expect(outcomeOf(mutant(messages), told.as_of)).toEqual(told.expected)
      }),
      { numRuns: 300, endOnFailure: true, seed: 7 },
    )

  it('the same check holds when nothing is put back', () => {
    expect(holds(factsOf as Mutant).failed).toBe(false)
  })

  for (const [name, mutant] of Object.entries(MUTANTS)) {
    it(`is noticed: ${name}`, () => {
      expect(holds(mutant).failed).toBe(true)
    })
  }
})
