import type { Queryable, Statement } from '../database.ts'
import { PAYMENT_COLUMNS, type PaymentKey, type PaymentRow } from './payment-row.ts'

// The row that this transaction has just inserted under the id that it offered needs no lock; it is told by that id, so
// that insert and lock can share a round trip and are two statements all the same.
// A look-up per key that cannot be flattened into a join: on a young table a join was planned as a sequential scan.
const LOCK: Statement = {
  name: 'lock-payments',
  text: `
    select p.*
    from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
        as k(tenant, namespace, account, provider_payment_id, offered_id),
      lateral (
        select ${PAYMENT_COLUMNS} from payments
        where provider_payment_id = k.provider_payment_id and namespace = k.namespace and account = k.account
          and tenant = k.tenant and bucket = $1 and id <> k.offered_id
        for no key update offset 0
      ) p`,
}

const LOCK_BY_ID: Statement = {
  name: 'lock-payments-by-id',
  text: `
    select p.* from unnest($2::bigint[]) as k(id),
      lateral (select ${PAYMENT_COLUMNS} from payments where id = k.id and bucket = $1 for no key update offset 0) p`,
}

/**
 * Locks the rows of these keys, in the order given, and reads them, except those that stand under the offered id. The
 * caller compares what it asked with what it got.
 */
export function lockPayments(
  db: Queryable,
  bucket: number,
  keys: readonly (PaymentKey & { readonly id: bigint })[],
): Promise<PaymentRow[]> {
  return db.query<PaymentRow>(LOCK, [
    bucket,
    keys.map((key) => key.tenant),
    keys.map((key) => key.namespace),
    keys.map((key) => key.account),
    keys.map((key) => key.provider_payment_id),
    keys.map((key) => key.id),
  ])
}

/** As `lockPayments`, for rows that are only known by their id (the payment that a stand-in is linked to). */
export function lockPaymentsById(
  db: Queryable,
  bucket: number,
  ids: readonly bigint[],
): Promise<PaymentRow[]> {
  return db.query<PaymentRow>(LOCK_BY_ID, [bucket, ids])
}
