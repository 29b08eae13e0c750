import { decodeContent } from '../facts/fact.ts'
import type { Expected } from '../providers/lookup.ts'
import type { Queryable } from '../store/database.ts'
import { findPayment, findStartedPayment } from '../store/queries/find-payment.ts'
import type { LookupKey } from '../store/queries/request-lookups.ts'

/** What we stated ourselves when the payment with this id was started; null where we did not start it. */
export async function loadExpected(db: Queryable, bucket: number, key: LookupKey): Promise<Expected | null> {
  const payment = await findPayment(db, bucket, { ...key, provider_payment_id: key.object_id })
  const started = payment && (await findStartedPayment(db, bucket, payment.id))
  if (!started) return null
  const { amount_minor, currency, order } = decodeContent('payment_milestone', started.content)
  if (amount_minor === undefined || currency === undefined) return null
  return { amount_minor, currency, order: order ?? null, started_at_ms: started.recorded_at.getTime() }
}
