import type { Queryable, Statement } from '../database.ts'
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row.ts'

const LOAD: Statement = {
  name: 'load-payments',
  text: `
    select p.* from unnest($2::bigint[]) as k(id),
      lateral (select ${PAYMENT_COLUMNS} from payments where id = k.id and bucket = $1 offset 0) p`,
}

const STAND_INS: Statement = {
  name: 'load-stand-ins',
  text: `select ${PAYMENT_COLUMNS} from payments where linked_to = any($2::bigint[]) and bucket = $1 order by id`,
}

/** Rows of payments without a lock: the siblings of an order whose own row is locked, so none can be added meanwhile. */
export function loadPayments(db: Queryable, bucket: number, ids: readonly bigint[]): Promise<PaymentRow[]> {
  return db.query<PaymentRow>(LOAD, [bucket, ids])
}

/**
 * The payments that link to these, whether the link holds or not. They change only under the lock of the payment that
 * they link to.
 */
export function loadStandIns(db: Queryable, bucket: number, ids: readonly bigint[]): Promise<PaymentRow[]> {
  return db.query<PaymentRow>(STAND_INS, [bucket, ids])
}

/** The stand-ins of these payments: those that link to them and are no payments of their own. */
export async function loadLinked(
  db: Queryable,
  bucket: number,
  ids: readonly bigint[],
): Promise<PaymentRow[]> {
  return (await loadStandIns(db, bucket, ids)).filter((row) => row.status === 'linked')
}
