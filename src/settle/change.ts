import type { EntitlementChanged } from './hook.ts'
import type { OrderDraft } from './orders.ts'
import type { Work } from './work.ts'

/** A planned change of a right, as hooks and receivers are told it. */
export function asChange(
  work: Work,
  order: OrderDraft,
  change: OrderDraft['entitlements'][number],
): EntitlementChanged {
  return {
    tenant: order.key.tenant,
    order: order.key.reference,
    ...(order.book.terms?.holder === undefined ? {} : { holder: order.book.terms.holder }),
    item: change.item,
    quantity: change.quantity,
    state: change.state,
    previous: order.before.find((row) => row.item === change.item)?.state ?? 'none',
    revision: change.revision,
    epoch: work.epoch,
  }
}
