import type { Fact } from '../facts/fact.ts'
import { derivePayment } from '../rules/derive-payment.ts'
import { linkTarget } from '../rules/link.ts'
import type { PaymentState } from '../rules/payment-state.ts'
import { paymentLock } from '../store/queries/payment-row.ts'
import type { PaymentDraft, PaymentDrafts } from './payments.ts'

/**
 * Payments with the stand-ins that are linked to them. A payment is derived together with its stand-ins; a stand-in alone
 * says only whose money it is. A link from a payment that others link to is void (rules/link.ts).
 */
export class PaymentGroups {
  readonly facts = new Map<PaymentDraft, Fact[]>()
  readonly #drafts: PaymentDrafts
  readonly #targets = new Map<PaymentDraft, PaymentDraft>()
  readonly #linking = new Map<PaymentDraft, PaymentDraft[]>()
  /** Read beside the payments of the batch: of those that link to them, only what is stored is known. */
  readonly #beside = new Set<PaymentDraft>()

  constructor(drafts: PaymentDrafts) {
    this.#drafts = drafts
  }

  /** Marks a draft whose own stand-ins were not read. */
  isBeside(draft: PaymentDraft): void {
    this.#beside.add(draft)
  }

  /** Reads the links from the facts, after these have changed. */
  link(): void {
    this.#targets.clear()
    this.#linking.clear()
    for (const [draft, own] of this.facts) {
      const id = linkTarget(own)
      const target =
        id === null ? undefined : this.#drafts.get(paymentLock({ ...draft.key, provider_payment_id: id }))
      if (!target) continue
      this.#targets.set(draft, target)
      this.#linking.set(target, [...(this.#linking.get(target) ?? []), draft])
    }
  }

  /** The payment that its facts link it to, whether the link holds or not. */
  target(draft: PaymentDraft): PaymentDraft | undefined {
    return this.#targets.get(draft)
  }

  /** Others link to it. */
  claimed(draft: PaymentDraft): boolean {
    return this.#linking.has(draft) || (this.#beside.has(draft) && draft.has_stand_ins)
  }

  derive(draft: PaymentDraft, contested: ReadonlySet<string> = NONE): PaymentState {
    const claimed = this.claimed(draft)
    const members = (this.#linking.get(draft) ?? []).filter((member) => !this.claimed(member))
    const own = this.facts.get(draft) ?? []
    const told =
      members.length === 0 ? own : [...own, ...members.flatMap((member) => this.facts.get(member) ?? [])]
    return derivePayment(told, draft.subject.id, { claimed, contested })
  }

  /** Drafts whose state may be another than the stored one, given those about which something new was told. */
  concerned(changed: ReadonlySet<PaymentDraft>): Set<PaymentDraft> {
    const by_id = new Map([...this.#drafts.values()].map((draft) => [draft.id, draft]))
    const concerned = new Set<PaymentDraft>(changed)
    for (const draft of this.facts.keys()) {
      const target = this.#targets.get(draft)
      const moved = (target?.id ?? null) !== draft.linked_to
      if (this.#beside.has(draft)) continue
      if (!moved && this.claimed(draft) === draft.has_stand_ins && !changed.has(draft)) continue
      concerned.add(draft)
      if (target) concerned.add(target)
      const former = draft.linked_to === null ? undefined : by_id.get(draft.linked_to)
      if (former) concerned.add(former)
    }
    return concerned
  }
}

const NONE: ReadonlySet<string> = new Set()
