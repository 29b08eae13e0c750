import type { BreakClass } from '../../rules/reconcile.ts'
import type { Queryable, Statement } from '../database.ts'
import type { ReconciledAccount } from './run-reconciliation.ts'

export type BreakState = 'open' | 'explained' | 'resolved' | 'written_off'

/** One object about which the two sides differ. */
export interface NewBreak {
  readonly kind: string
  readonly item_id: string
  /** The provider's id of its payment; empty where nobody knows. */
  readonly payment: string
  readonly class: BreakClass
  /** `resolved` for what was settled at once, `explained` for what explains itself. */
  readonly state: 'open' | 'explained' | 'resolved'
  readonly expires_at: Date | null
  readonly our_status: string
  readonly their_status: string
  readonly our_minor: bigint | null
  readonly their_minor: bigint | null
  readonly our_currency: string
  readonly their_currency: string
  readonly place: string
  readonly reason: string
}

// What a person has explained or written off stays so as long as the difference is the same one.
const SAME = `reconciliation_breaks.class = excluded.class
  and reconciliation_breaks.our_minor is not distinct from excluded.our_minor
  and reconciliation_breaks.their_minor is not distinct from excluded.their_minor
  and reconciliation_breaks.our_status = excluded.our_status and reconciliation_breaks.their_status = excluded.their_status`
const STAYS = `reconciliation_breaks.state in ('explained', 'written_off') and ${SAME}`

const RECORD: Statement = {
  name: 'record-breaks',
  text: `
    insert into reconciliation_breaks (bucket, reconciliation_id, first_found_at, found_at, tenant, namespace, account,
      endpoint, kind, item_id, payment, class, state, expires_at, our_status, their_status, our_minor, their_minor,
      our_currency, their_currency, place, reason, closed_at)
    select $1, $2, $3, $3, $4, $5, $6, $7, b.kind, b.item_id, b.payment, b.class, b.state, b.expires_at, b.our_status,
      b.their_status, b.our_minor, b.their_minor, b.our_currency, b.their_currency, b.place, b.reason,
      case when b.state = 'resolved' then $3::timestamptz end
    from unnest($8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::timestamptz[], $14::text[], $15::text[],
      $16::numeric[], $17::numeric[], $18::text[], $19::text[], $20::text[], $21::text[])
      as b(kind, item_id, payment, class, state, expires_at, our_status, their_status, our_minor, their_minor,
        our_currency, their_currency, place, reason)
    on conflict (item_id, kind, namespace, account, tenant, bucket) do update set
      reconciliation_id = excluded.reconciliation_id, found_at = excluded.found_at, endpoint = excluded.endpoint,
      payment = excluded.payment, class = excluded.class, expires_at = excluded.expires_at,
      our_status = excluded.our_status, their_status = excluded.their_status, our_minor = excluded.our_minor,
      their_minor = excluded.their_minor, our_currency = excluded.our_currency, their_currency = excluded.their_currency,
      place = excluded.place,
      state = case when ${STAYS} then reconciliation_breaks.state else excluded.state end,
      actor = case when ${STAYS} then reconciliation_breaks.actor else '' end,
      reason = case when ${STAYS} then reconciliation_breaks.reason else excluded.reason end,
      closed_at = case when ${STAYS} then reconciliation_breaks.closed_at else excluded.closed_at end,
      occurrence = reconciliation_breaks.occurrence + case when reconciliation_breaks.state <> 'open' and not (${STAYS}) then 1 else 0 end`,
}

const RESOLVE: Statement = {
  name: 'resolve-breaks',
  text: `
    update reconciliation_breaks b set state = 'resolved', closed_at = $2, reconciliation_id = $3, reason = $4, actor = ''
    from unnest($9::text[]) as k(item_id)
    where b.item_id = k.item_id and b.kind = $8 and b.namespace = $5 and b.account = $6 and b.tenant = $7 and b.bucket = $1
      and b.state in ('open', 'explained')
    returning b.id`,
}

export interface BreakRun extends ReconciledAccount {
  readonly id: bigint
  readonly endpoint: string
}

/** Records differences, each object once; one that was over opens again. */
export async function recordBreaks(
  db: Queryable,
  bucket: number,
  now: Date,
  run: BreakRun,
  breaks: readonly NewBreak[],
): Promise<void> {
  const once = [...new Map(breaks.map((one) => [`${one.kind}\n${one.item_id}`, one])).values()]
  await db.query(RECORD, [
    bucket,
    run.id,
    now,
    run.tenant,
    run.namespace,
    run.account,
    run.endpoint,
    once.map((one) => one.kind),
    once.map((one) => one.item_id),
    once.map((one) => one.payment),
    once.map((one) => one.class),
    once.map((one) => one.state),
    once.map((one) => one.expires_at),
    once.map((one) => one.our_status),
    once.map((one) => one.their_status),
    once.map((one) => one.our_minor),
    once.map((one) => one.their_minor),
    once.map((one) => one.our_currency),
    once.map((one) => one.their_currency),
    once.map((one) => one.place),
    once.map((one) => one.reason),
  ])
}

/** The sides agree about these objects now: their breaks are over. Gives how many there were. */
export async function resolveBreaks(
  db: Queryable,
  bucket: number,
  now: Date,
  run: BreakRun,
  kind: string,
  item_ids: readonly string[],
): Promise<number> {
  const rows = await db.query(RESOLVE, [
    bucket,
    now,
    run.id,
    `matched by run ${run.id}`,
    run.namespace,
    run.account,
    run.tenant,
    kind,
    item_ids,
  ])
  return rows.length
}
