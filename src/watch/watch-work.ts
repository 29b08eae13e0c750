import {
  findStuckEvents,
  findStuckLookups,
  findUnfulfilledOrders,
  type Stuck,
  type StuckLookups,
  type UnfulfilledOrder,
} from '../store/queries/find-stuck-work.ts'
import type { Finding, Watch } from './watch.ts'

/** At most so many orders are told of at once; the others follow when these are fulfilled. */
const UNFULFILLED_MAX = 200

/** Work that should have been done long ago. */
export const watchWork: Watch = {
  name: 'work',
  kinds: ['events_stuck', 'lookups_stuck', 'paid_unfulfilled'],
  look: async ({ tx, bucket, now_ms, limits }) => {
    const since = new Date(now_ms - limits.stuck_after_ms)
    const events = await findStuckEvents(tx, bucket, since)
    const lookups = await findStuckLookups(tx, bucket, since)
    const orders = await findUnfulfilledOrders(tx, bucket, since, UNFULFILLED_MAX)
    return [...events.map(stuckEvents), ...lookups.map(stuckLookups), ...orders.map(unfulfilled)]
  },
}

function stuckEvents({ tenant, count, since }: Stuck): Finding {
  return {
    tenant,
    subject_kind: 'installation',
    subject_id: 0n,
    subject_key: 'settling',
    kind: 'events_stuck',
    cause: '-',
    severity: 'urgent',
    message: `What was kept at ${since.toISOString()} still waits to be settled, ${count} in all. Nothing is lost: see that \`paidonce work\` or \`serve\` runs, and what \`paidonce events list --state kept\` says.`,
  }
}

function stuckLookups({ tenant, endpoint, count, since }: StuckLookups): Finding {
  return {
    tenant,
    subject_kind: 'endpoint',
    subject_id: 0n,
    subject_key: endpoint,
    kind: 'lookups_stuck',
    cause: '-',
    severity: 'warning',
    message: `The provider of endpoint ${endpoint} should have been asked since ${since.toISOString()}, ${count} questions in all, and was not. See that \`paidonce work\` or \`serve\` runs, and that the endpoint is still configured.`,
  }
}

function unfulfilled({ tenant, order_id, reference, items, since, attempts }: UnfulfilledOrder): Finding {
  const tried = attempts === 0 ? 'nobody has tried to tell it' : `${attempts} attempts failed`
  return {
    tenant,
    subject_kind: 'order',
    subject_id: order_id,
    subject_key: reference,
    kind: 'paid_unfulfilled',
    cause: '-',
    severity: 'urgent',
    message: `Order ${reference} is paid, and ${items.join(', ')} has not reached your shop since ${since.toISOString()}: ${tried}. See \`paidonce effects list --order ${reference}\` and mend the receiver.`,
  }
}
