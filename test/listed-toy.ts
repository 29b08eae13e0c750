import { paymentMilestone } from '../src/facts/payment.ts'
import { refundMilestone } from '../src/facts/refund.ts'
import type { ListedItem, ListedKind, Window } from '../src/providers/lookup.ts'
import { toy, toyPayment } from './toy-provider.ts'

/** What the toy's list says of one payment. */
export interface ToyListed {
  readonly id: string
  readonly at_ms: number
  readonly amount_minor: bigint
  readonly currency?: string
  readonly milestone?: 'succeeded' | 'pending'
  readonly order?: string
  /** `foreign`: states nothing; `unreadable`: not even an amount. */
  readonly says?: 'foreign' | 'unreadable'
}

export interface ToyRefund {
  readonly id: string
  readonly payment: string
  readonly at_ms: number
  readonly amount_minor: bigint
}

/** A toy whose API lists, so many payments a page, whatever the test says that it knows. */
export function listingToy(
  books: { payments: readonly ToyListed[]; refunds: readonly ToyRefund[] },
  page = 100,
) {
  const box = toy()
  const { provider } = box
  const known = () => new Map(books.payments.map((one) => [one.id, one]))
  const lookup = {
    ...provider.lookup!,
    fetch: async ({ id }: { readonly id: string }) => {
      const one = known().get(id)
      return one
        ? { outcome: 'found' as const, facts: paymentItem(one).facts }
        : { outcome: 'not_found' as const }
    },
    listed_by: { payments: 'moved', refunds: 'moved' } as const,
    async *list(kind: ListedKind, { from_ms, to_ms }: Window) {
      const inside = ({ at_ms }: { at_ms: number }) => at_ms >= from_ms && at_ms < to_ms
      const items =
        kind === 'payments'
          ? books.payments.filter(inside)
          : kind === 'refunds'
            ? books.refunds.filter(inside)
            : []
      for (let start = 0; start < items.length; start += page) {
        const part = items.slice(start, start + page)
        yield part.map((one) => ('payment' in one ? refundItem(one) : paymentItem(one)))
      }
    },
  }
  return { ...box, provider: { ...provider, lookup } }
}

function paymentItem(one: ToyListed): ListedItem {
  const { id, at_ms, amount_minor, currency = 'USD', milestone = 'succeeded', order, says } = one
  const at = new Date(at_ms).toISOString()
  const item = { kind: 'payments' as const, id, payment: id, status: milestone, at }
  if (says !== undefined) {
    const amount = says === 'foreign' ? { amount_minor, currency } : { amount_minor: null, currency: null }
    return { ...item, ...amount, facts: [] }
  }
  const moved_at = milestone === 'succeeded' ? at : undefined
  const content = { milestone, attempt: `${id}-1`, amount_minor, currency, order, moved_at }
  return { ...item, amount_minor, currency, facts: [paymentMilestone(toyPayment(id), content)] }
}

function refundItem({ id, payment, at_ms, amount_minor }: ToyRefund): ListedItem {
  const moved_at = new Date(at_ms).toISOString()
  const content = { refund: id, milestone: 'succeeded' as const, amount_minor, currency: 'USD', moved_at }
  const facts = [refundMilestone(toyPayment(payment), content)]
  return {
    kind: 'refunds',
    id,
    payment,
    amount_minor,
    currency: 'USD',
    status: 'succeeded',
    at: moved_at,
    facts,
  }
}
