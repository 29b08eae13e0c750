import type { BreakClass, ReconciledKind } from '../../rules/reconcile.ts'
import type { Queryable, Statement } from '../database.ts'
import type { BreakState } from './record-breaks.ts'
import type { ReconciledAccount } from './run-reconciliation.ts'

export interface BreakRow extends ReconciledAccount {
  readonly id: bigint
  readonly endpoint: string
  /** The run that saw it last. */
  readonly reconciliation_id: bigint
  readonly kind: ReconciledKind
  readonly item_id: string
  readonly payment: string
  readonly class: BreakClass
  readonly state: BreakState
  /** How often it has opened. */
  readonly occurrence: number
  readonly first_found_at: Date
  readonly found_at: Date
  readonly expires_at: Date | null
  readonly closed_at: Date | null
  readonly our_status: string
  readonly their_status: string
  readonly our_minor: string | null
  readonly their_minor: string | null
  readonly our_currency: string
  readonly their_currency: string
  readonly place: string
  readonly actor: string
  readonly reason: string
}

const COLUMNS = `id, tenant, namespace, account, endpoint, reconciliation_id, kind, item_id, payment, class, state, occurrence,
  first_found_at, found_at, expires_at, closed_at, our_status, their_status, our_minor, their_minor, our_currency,
  their_currency, place, actor, reason`

const LIST: Statement = {
  name: 'list-breaks',
  text: `
    select ${COLUMNS} from reconciliation_breaks
    where bucket = $1 and ($2::text is null or state = $2) and ($3::text is null or class = $3)
      and ($4::text is null or endpoint = $4) and ($5::bigint is null or reconciliation_id = $5)
    order by found_at desc, id desc limit $6`,
}

const OPEN: Statement = {
  name: 'list-open-breaks',
  text: `
    select ${COLUMNS} from reconciliation_breaks
    where bucket = $1 and namespace = $2 and account = $3 and tenant = $4 and state = 'open' and id > $5 order by id limit $6`,
}

const DECIDE: Statement = {
  name: 'decide-break',
  text: `
    update reconciliation_breaks set state = $3, actor = $4, reason = $5, closed_at = $6
    where id = $2 and bucket = $1 and state in ('open', 'explained')
    returning ${COLUMNS}`,
}

export interface BreakFilter {
  readonly state?: string | undefined
  readonly class?: string | undefined
  readonly endpoint?: string | undefined
  /** Seen last by this run. */
  readonly run?: bigint | undefined
  readonly limit: number
}

/** The newest first. */
export function listBreaks(db: Queryable, bucket: number, filter: BreakFilter): Promise<BreakRow[]> {
  return db.query<BreakRow>(LIST, [
    bucket,
    filter.state ?? null,
    filter.class ?? null,
    filter.endpoint ?? null,
    filter.run ?? null,
    filter.limit,
  ])
}

/** Open ones of one account, oldest first, those after `after`. */
export function listOpenBreaks(
  db: Queryable,
  bucket: number,
  { namespace, account, tenant }: ReconciledAccount,
  after: bigint,
  limit: number,
): Promise<BreakRow[]> {
  return db.query<BreakRow>(OPEN, [bucket, namespace, account, tenant, after, limit])
}

/** What a person says about a break; null when there is none, or it is over. */
export async function decideBreak(
  db: Queryable,
  bucket: number,
  id: bigint,
  decided: {
    readonly state: 'explained' | 'written_off'
    readonly actor: string
    readonly reason: string
    readonly at: Date
  },
): Promise<BreakRow | null> {
  const [row] = await db.query<BreakRow>(DECIDE, [
    bucket,
    id,
    decided.state,
    decided.actor,
    decided.reason,
    decided.at,
  ])
  return row ?? null
}
