import type { Queryable, Statement } from '../database.ts'

export interface DisputeToAnswer {
  readonly tenant: string
  readonly payment_id: bigint
  readonly namespace: string
  readonly account: string
  readonly provider_payment_id: string
  readonly provider_dispute_id: string
  readonly stage: string
  readonly amount_minor: string | null
  readonly currency: string | null
  readonly respond_by: Date
}

const FIND: Statement = {
  name: 'find-disputes-to-answer',
  text: `
    select d.tenant, d.payment_id, d.namespace, d.account, p.provider_payment_id, d.provider_dispute_id, d.stage,
      d.amount_minor, d.currency, d.respond_by
    from disputes d join payments p on p.id = d.payment_id and p.bucket = $1
    where d.bucket = $1 and d.status = 'needs_response' and d.respond_by > $2 and d.respond_by <= $3`,
}

/** Disputes that wait for an answer of ours, due after `now` and until `until`. */
export function findDisputesToAnswer(
  db: Queryable,
  bucket: number,
  now: Date,
  until: Date,
): Promise<DisputeToAnswer[]> {
  return db.query<DisputeToAnswer>(FIND, [bucket, now, until])
}
