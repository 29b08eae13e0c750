import type { Delivery } from '../providers/contract.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { PaymentStatus } from '../rules/payment-state.ts'
import type { Database } from '../store/database.ts'
import { findPayment } from '../store/queries/find-payment.ts'
import type { LookupWorker } from './lookup-worker.ts'

/** What can be said to a buyer who comes back from the provider. */
export interface PaymentReturn {
  /**
   * `paid`: the provider confirmed it and it is recorded. `pending`: it is being asked about; say so and look again.
   * `failed` and `canceled`: no money came. `unknown`: the return names no payment that was started here.
   */
  readonly status: 'paid' | 'pending' | 'failed' | 'canceled' | 'unknown'
  /** Our order reference, from what we stored ourselves. */
  readonly order: string | null
  readonly payment: string | null
}

const UNKNOWN: PaymentReturn = { status: 'unknown', order: null, payment: null }

/**
 * A buyer's browser comes back. What it says is a hint to go and look, and nothing of it is written: the provider is asked,
 * with the amount and reference that were stored when the payment was started.
 * @param limit_ms how long the buyer may wait for the provider's answer, milliseconds; it is settled later all the same
 */
export async function receiveReturn(
  database: Database,
  lookups: LookupWorker,
  endpoint: Endpoint | undefined,
  delivery: Delivery,
  limit_ms: number,
): Promise<PaymentReturn> {
  const hint = endpoint?.provider.readReturn?.(delivery) ?? null
  if (!endpoint || hint === null) return UNKNOWN
  const { tenant, bucket } = endpoint
  const { namespace, account } = endpoint.provider
  const key = { tenant, namespace, account, provider_payment_id: hint.lookup.id }
  const known = await findPayment(database, bucket, key)
  // Whatever strangers make up must not become requests to the provider.
  if (known === null) return UNKNOWN
  const answer = (status: PaymentReturn['status'], order_refs: readonly string[]): PaymentReturn => ({
    status,
    order: order_refs.length === 1 ? order_refs[0]! : null,
    payment: hint.lookup.id,
  })
  if (isOver(known.status)) return answer(wordFor(known.status, false), known.order_refs)
  const outcome = await lookups.askNow(endpoint, hint.lookup, 'return', limit_ms)
  const asked = outcome === 'found' || outcome === 'not_found'
  const now = (await findPayment(database, bucket, key)) ?? known
  return answer(wordFor(now.status, asked && hint.canceled), now.order_refs)
}

function isOver(status: PaymentStatus): boolean {
  return wordFor(status, false) === 'paid'
}

/** @param gave_up the buyer is said to have given up, and the provider, when asked, knew of no money either */
function wordFor(status: PaymentStatus, gave_up: boolean): PaymentReturn['status'] {
  switch (status) {
    case 'succeeded':
      return 'paid'
    case 'failed':
    case 'expired':
      return 'failed'
    case 'canceled':
      return 'canceled'
    // Nothing has been begun since we sent the buyer away.
    case 'created':
      return gave_up ? 'canceled' : 'pending'
    default:
      return 'pending'
  }
}
