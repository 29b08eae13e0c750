import type { Endpoint } from '../providers/endpoint.ts'
import type { OrderStatus } from '../rules/order-state.ts'
import type { PaymentStatus } from '../rules/payment-state.ts'
import type { Database } from '../store/database.ts'
import { findOrderProgress, type OrderProgress } from '../store/queries/find-order-progress.ts'
import { BY_REFERENCE, type LookupWorker } from './lookup-worker.ts'

/** What can be said to a buyer who waits for their order. Nothing here is a promise before it says `paid`. */
export interface Confirmation {
  readonly order: string
  /**
   * `paid`: the money is recorded. `pending`: nobody knows yet; say so and look again. `failed`: every try to pay failed,
   * another may follow. `review`: money came that a person has to look at. `refunded`, `closed`: over. `unknown`: nothing
   * refers to such an order.
   */
  readonly status: 'paid' | 'pending' | 'failed' | 'review' | 'refunded' | 'closed' | 'unknown'
  /** When it is worth looking again, milliseconds; null when nothing more is expected. */
  readonly look_again_ms: number | null
}

/** So many objects are asked about for one buyer. */
const ASKED_MAX = 3
const LOOK_AGAIN_MS = 3_000

/**
 * How an order stands: what is known at once, and while it is pending, after asking the providers for at most `limit_ms`.
 * What comes later is settled all the same.
 * @param limit_ms 0 to answer at once and let the answers come in the background
 */
export async function confirmOrder(
  database: Database,
  lookups: LookupWorker,
  endpoints: ReadonlyMap<string, Endpoint>,
  bucket: number,
  tenant: string,
  reference: string,
  limit_ms: number,
): Promise<Confirmation> {
  const known = await findOrderProgress(database, bucket, tenant, reference)
  const status = statusOf(known)
  if (known === null || status !== 'pending') return confirmation(reference, status)
  const own = [...endpoints.values()].filter(
    (endpoint) => endpoint.tenant === tenant && endpoint.provider.lookup,
  )
  const asking = questions(known, own, reference).map(({ endpoint, object, id }) =>
    lookups.askNow(endpoint, { object, id }, 'return', limit_ms),
  )
  // Whoever asks hears of it where it fails.
  const answered = Promise.allSettled(asking)
  if (limit_ms <= 0) return confirmation(reference, status)
  await answered
  return confirmation(reference, statusOf(await findOrderProgress(database, bucket, tenant, reference)))
}

/** The payments that are under way, or else whatever the providers know of the reference. */
function questions(known: OrderProgress, own: readonly Endpoint[], reference: string) {
  const under_way = known.payments.flatMap(({ namespace, account, provider_payment_id: id, status }) => {
    const endpoint = own.find(
      ({ provider }) => provider.namespace === namespace && provider.account === account,
    )
    return endpoint && isUnderWay(status) ? [{ endpoint, object: 'payment', id }] : []
  })
  const found =
    under_way.length > 0
      ? under_way
      : own
          .filter(({ provider }) => provider.lookup?.find)
          .map((endpoint) => ({ endpoint, object: BY_REFERENCE, id: reference }))
  return found.slice(0, ASKED_MAX)
}

const OVER: Readonly<Partial<Record<OrderStatus, Confirmation['status']>>> = {
  paid: 'paid',
  overpaid: 'paid',
  partially_refunded: 'paid',
  refunded: 'refunded',
  charged_back: 'refunded',
  canceled: 'closed',
  expired: 'closed',
  underpaid: 'review',
  on_hold: 'review',
}

function statusOf(known: OrderProgress | null): Confirmation['status'] {
  if (known === null) return 'unknown'
  const over = OVER[known.status]
  if (over !== undefined) return over
  const failed = known.payments.length > 0 && known.payments.every(({ status }) => FAILED.has(status))
  return failed ? 'failed' : 'pending'
}

const FAILED: ReadonlySet<PaymentStatus> = new Set(['failed', 'canceled', 'expired'])
const UNDER_WAY: ReadonlySet<PaymentStatus> = new Set([
  'unknown',
  'created',
  'requires_action',
  'pending',
  'authorized',
])

function isUnderWay(status: PaymentStatus): boolean {
  return UNDER_WAY.has(status)
}

function confirmation(order: string, status: Confirmation['status']): Confirmation {
  const open = status === 'pending' || status === 'failed' || status === 'review'
  return { order, status, look_again_ms: open ? LOOK_AGAIN_MS : null }
}
