import type { PaymentStatus } from '../../rules/payment-state.ts'
import type { Queryable, Statement } from '../database.ts'
import type { PaymentKey } from './payment-row.ts'

const FIND: Statement = {
  name: 'find-payment',
  text: `
    select p.id, p.status, p.order_refs from payments p
    where p.provider_payment_id = $2 and p.namespace = $3 and p.account = $4 and p.tenant = $5 and p.bucket = $1`,
}

// Only what we said ourselves counts: a look-up that asks with an amount from a message would confirm that message.
const STARTED: Statement = {
  name: 'find-started-payment',
  text: `
    select f.content, f.recorded_at from facts f
    where f.subject_id = $2 and f.fact_key = 'payment/created' and f.bucket = $1
      and exists (
        select 1 from witnesses w where w.fact_id = f.id and w.source_kind = 'merchant' and w.bucket = $1
      )
    order by f.id limit 1`,
}

export interface FoundPayment {
  readonly id: bigint
  readonly status: PaymentStatus
  readonly order_refs: readonly string[]
}

/** What the merchant itself stated when a payment was started. */
export interface StartedPayment {
  /** Stored form of the fact's content. */
  readonly content: object
  readonly recorded_at: Date
}

export async function findPayment(
  db: Queryable,
  bucket: number,
  key: PaymentKey,
): Promise<FoundPayment | null> {
  const [row] = await db.query<FoundPayment>(FIND, [
    bucket,
    key.provider_payment_id,
    key.namespace,
    key.account,
    key.tenant,
  ])
  return row ?? null
}

/** Null for a payment that we did not start. */
export async function findStartedPayment(
  db: Queryable,
  bucket: number,
  payment_id: bigint,
): Promise<StartedPayment | null> {
  const [row] = await db.query<StartedPayment>(STARTED, [bucket, payment_id])
  return row ?? null
}
