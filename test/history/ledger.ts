import type { Fact } from '../../src/facts/fact.ts'
import type { OrderState } from '../../src/rules/order-state.ts'
import { type EntitlementBefore, planEffects } from '../../src/rules/plan-effects.ts'
import type { Message } from './history.ts'
import { deriveAll } from './outcome.ts'

/** One effect as it was written, with the state that justified it. */
export interface WrittenEffect {
  readonly order: string
  readonly item: string
  readonly topic: string
  /** Of a one-shot; null for a level effect. */
  readonly cause: string | null
  /** Of the entitlement; 0 for a one-shot. */
  readonly revision: number
  /** The entitlement's state that a level effect announces; null for a one-shot. */
  readonly announces: EntitlementBefore['state'] | null
  readonly order_state: OrderState
}

/** Settles messages one after the other, as the database does, and keeps what it wrote. */
export class Ledger {
  readonly facts: Fact[] = []
  readonly entitlements = new Map<string, Map<string, EntitlementBefore>>()
  readonly effects: WrittenEffect[] = []
  readonly #as_of: string
  readonly #receipts = new Set<string>()

  constructor(as_of: string) {
    this.#as_of = as_of
  }

  settle(messages: readonly Message[]): void {
    this.facts.push(...messages.flatMap((message) => message.facts))
    for (const [reference, state] of deriveAll(this.facts, this.#as_of).orders) this.#write(reference, state)
  }

  rows(reference: string): readonly EntitlementBefore[] {
    return [...(this.entitlements.get(reference)?.values() ?? [])]
  }

  #write(reference: string, order_state: OrderState): void {
    const rows = this.entitlements.get(reference) ?? new Map<string, EntitlementBefore>()
    this.entitlements.set(reference, rows)
    const plan = planEffects({ reference, before: [...rows.values()] }, order_state)
    for (const { changed: _, ...row } of plan.entitlements) rows.set(row.item, row)
    for (const effect of plan.effects) {
      if (effect.type === 'one_shot') {
        // The outbox holds one row per (subject, item, topic, cause), whatever is asked for later.
        const lock = [reference, effect.item, effect.topic, effect.cause].join('\n')
        if (this.#receipts.has(lock)) continue
        this.#receipts.add(lock)
      }
      const row = effect.type === 'level' ? rows.get(effect.item)! : null
      this.effects.push({
        order: reference,
        item: effect.item,
        topic: effect.topic,
        cause: effect.type === 'one_shot' ? effect.cause : null,
        revision: row?.revision ?? 0,
        announces: row?.state ?? null,
        order_state,
      })
    }
  }
}
