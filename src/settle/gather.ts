import type { Fact } from '../facts/fact.ts'
import type { Subject } from '../facts/subject.ts'
import { type OrderDrafts, orderDraft } from './orders.ts'
import { type PaymentDrafts, paymentDraft } from './payments.ts'
import type { Recorded } from './record-events.ts'
import { type SubscriptionDrafts, subscriptionDraft } from './subscriptions.ts'

/** The rows that a batch is about, each with everything that its items say of it. */
export interface Gathered {
  readonly payments: PaymentDrafts
  readonly subscriptions: SubscriptionDrafts
  /** Orders that items speak of directly; those that payments name are found once these are derived. */
  readonly orders: OrderDrafts
}

/** Sorts the facts of all items by subject. A duplicate, which has no source, adds nothing. */
export function gather(recorded: readonly Recorded[]): Gathered {
  const gathered: Gathered = { payments: new Map(), subscriptions: new Map(), orders: new Map() }
  for (const [place, { item, source }] of recorded.entries()) {
    for (const subject of item.touches) touch(gathered, place, item.tenant, subject, item.rederive)
    if (!source) continue
    for (const fact of item.facts) {
      const statements = touch(gathered, place, item.tenant, fact.subject, item.rederive, fact)
      statements.add(fact, source)
    }
  }
  return gathered
}

function touch(
  gathered: Gathered,
  place: number,
  tenant: string,
  subject: Subject,
  rederive: boolean,
  fact?: Fact,
) {
  switch (subject.kind) {
    case 'payment': {
      const draft = paymentDraft(gathered.payments, tenant, subject)
      draft.items.add(place)
      draft.touched ||= !fact || rederive
      draft.rederive ||= rederive
      if (fact?.kind === 'payment_link') {
        const target = paymentDraft(gathered.payments, tenant, { ...subject, id: fact.content.payment })
        target.items.add(place)
        target.rederive ||= rederive
      }
      return draft.statements
    }
    case 'order': {
      const draft = orderDraft(gathered.orders, { tenant, reference: subject.reference })
      draft.items.add(place)
      draft.refold ||= !fact || rederive
      return draft.statements
    }
    case 'subscription': {
      const draft = subscriptionDraft(gathered.subscriptions, tenant, subject)
      draft.items.add(place)
      draft.touched ||= !fact || rederive
      draft.rederive ||= rederive
      return draft.statements
    }
  }
}
