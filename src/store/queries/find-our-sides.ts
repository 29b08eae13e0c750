import type { Queryable, Statement } from '../database.ts'
import type { ReconciledAccount } from './run-reconciliation.ts'

// A stand-in is found as the payment whose money it is.
const PAYMENTS: Statement = {
  name: 'find-our-payments',
  text: `
    select k.id as asked, m.provider_payment_id as item_id, m.provider_payment_id as payment, m.status, m.currency,
      m.captured_minor as amount_minor, m.updated_at
    from unnest($5::text[]) as k(id),
      lateral (
        select id, case when status = 'linked' then linked_to end as linked_to from payments
        where provider_payment_id = k.id and namespace = $2 and account = $3 and tenant = $4 and bucket = $1
        offset 0
      ) p,
      lateral (select * from payments where id = coalesce(p.linked_to, p.id) and bucket = $1 offset 0) m`,
}

const REFUNDS: Statement = {
  name: 'find-our-refunds',
  text: `
    select k.id as asked, r.provider_refund_id as item_id, p.provider_payment_id as payment, r.status, r.currency,
      r.amount_minor, r.updated_at
    from unnest($5::text[]) as k(id),
      lateral (
        select * from refunds
        where provider_refund_id = k.id and namespace = $2 and account = $3 and tenant = $4 and bucket = $1
        offset 0
      ) r,
      lateral (select provider_payment_id from payments where id = r.payment_id and bucket = $1 offset 0) p`,
}

const DISPUTES: Statement = {
  name: 'find-our-disputes',
  text: `
    select k.id as asked, d.provider_dispute_id as item_id, p.provider_payment_id as payment, d.status, d.stage, d.currency,
      d.amount_minor, d.updated_at
    from unnest($5::text[]) as k(id),
      lateral (
        select * from disputes
        where provider_dispute_id = k.id and namespace = $2 and account = $3 and tenant = $4 and bucket = $1
        offset 0
      ) d,
      lateral (select provider_payment_id from payments where id = d.payment_id and bucket = $1 offset 0) p`,
}

const BY_KIND = { payments: PAYMENTS, refunds: REFUNDS, disputes: DISPUTES } as const

/** What we know of one object that a provider lists. A dispute gives one row per stage. */
export interface OurSideRow {
  /** The id that was asked about. */
  readonly asked: string
  /** The id under which we hold it; another one where a stand-in was asked about. */
  readonly item_id: string
  /** The provider's id of its payment. */
  readonly payment: string
  readonly status: string
  /** Of a dispute. */
  readonly stage?: string
  readonly currency: string | null
  readonly amount_minor: string | null
  readonly updated_at: Date
}

export function findOurSides(
  db: Queryable,
  bucket: number,
  { namespace, account, tenant }: ReconciledAccount,
  kind: keyof typeof BY_KIND,
  ids: readonly string[],
): Promise<OurSideRow[]> {
  return db.query<OurSideRow>(BY_KIND[kind], [bucket, namespace, account, tenant, ids])
}
