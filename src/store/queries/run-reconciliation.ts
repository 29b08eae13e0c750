import type { Queryable, Statement } from '../database.ts'

/** One account of a provider, as reconciliation names it. */
export interface ReconciledAccount {
  readonly tenant: string
  readonly namespace: string
  readonly account: string
}

export interface NewReconciliation extends ReconciledAccount {
  readonly endpoint: string
  readonly source: 'list' | 'file'
  /** SHA-256 of the file in hexadecimal; empty for a list. */
  readonly source_digest: string
  /** The window; null for a file of which nobody says what it covers. */
  readonly from_at: Date | null
  readonly to_at: Date | null
  /** The time of the schedule that it is for; null where a person asked. */
  readonly scheduled_for: Date | null
}

/** A run that one process has in hand. */
export interface ReconciliationRow extends NewReconciliation {
  readonly id: bigint
  readonly started_at: Date
  readonly finished_at: Date | null
  readonly lease_until: Date
  readonly attempt: number
  readonly state: 'running' | 'done' | 'failed'
  readonly reason: string
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>
}

const COLUMNS = `id, tenant, namespace, account, endpoint, source, source_digest, from_at, to_at, scheduled_for, started_at,
  finished_at, lease_until, attempt, state, reason, counts`

// Both unique indexes may object: another run of the account is under way, or the schedule's time has had its run.
const START: Statement = {
  name: 'start-reconciliation',
  text: `
    insert into reconciliations (bucket, started_at, lease_until, tenant, namespace, account, endpoint, source, source_digest,
      from_at, to_at, scheduled_for, state)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'running')
    on conflict do nothing
    returning ${COLUMNS}`,
}

const TAKE_OVER: Statement = {
  name: 'take-over-reconciliation',
  text: `
    update reconciliations set state = 'running', lease_until = $6, attempt = attempt + 1, retry_at = null
    where id = (
      select id from reconciliations
      where namespace = $2 and account = $3 and tenant = $4 and bucket = $1 and source = 'list'
        and ((state = 'running' and lease_until < $5) or (state = 'failed' and retry_at <= $5))
        and not exists (
          select 1 from reconciliations r
          where r.namespace = $2 and r.account = $3 and r.tenant = $4 and r.bucket = $1 and r.state = 'running'
            and r.lease_until >= $5
        )
      order by state desc, id limit 1
      for update skip locked
    ) and bucket = $1
    returning ${COLUMNS}`,
}

// A file is somewhere on the disk of whoever gave it, so nobody else can go on with it.
const ABANDON: Statement = {
  name: 'abandon-reconciliations',
  text: `
    update reconciliations set state = 'failed', finished_at = $5, reason = 'the process that read the file went away'
    where namespace = $2 and account = $3 and tenant = $4 and bucket = $1 and state = 'running' and source = 'file'
      and lease_until < $5`,
}

const RENEW: Statement = {
  name: 'renew-reconciliation',
  text: `
    update reconciliations set lease_until = $4
    where id = $2 and attempt = $3 and state = 'running' and bucket = $1
    returning id`,
}

const FINISH: Statement = {
  name: 'finish-reconciliation',
  text: `
    update reconciliations set state = $4, finished_at = $5, reason = $6, counts = $7, retry_at = $8
    where id = $2 and attempt = $3 and state = 'running' and bucket = $1
    returning ${COLUMNS}`,
}

const LIST: Statement = {
  name: 'list-reconciliations',
  text: `
    select ${COLUMNS} from reconciliations
    where bucket = $1 and ($2::text is null or endpoint = $2) order by id desc limit $3`,
}

/** Starts a run; null when another one of the account is under way, or the schedule's time has had its run already. */
export async function startReconciliation(
  db: Queryable,
  bucket: number,
  now: Date,
  lease_until: Date,
  run: NewReconciliation,
): Promise<ReconciliationRow | null> {
  const [row] = await db.query<ReconciliationRow>(START, [
    bucket,
    now,
    lease_until,
    run.tenant,
    run.namespace,
    run.account,
    run.endpoint,
    run.source,
    run.source_digest,
    run.from_at,
    run.to_at,
    run.scheduled_for,
  ])
  return row ?? null
}

/** Goes on with a run whose process went away, or tries a scheduled one again that failed; null where there is none. */
export async function takeOverReconciliation(
  db: Queryable,
  bucket: number,
  now: Date,
  lease_until: Date,
  { namespace, account, tenant }: ReconciledAccount,
): Promise<ReconciliationRow | null> {
  await db.query(ABANDON, [bucket, namespace, account, tenant, now])
  const [row] = await db.query<ReconciliationRow>(TAKE_OVER, [
    bucket,
    namespace,
    account,
    tenant,
    now,
    lease_until,
  ])
  return row ?? null
}

/** False when somebody else has taken the run on. */
export async function renewReconciliation(
  db: Queryable,
  bucket: number,
  { id, attempt }: Pick<ReconciliationRow, 'id' | 'attempt'>,
  lease_until: Date,
): Promise<boolean> {
  return (await db.query(RENEW, [bucket, id, attempt, lease_until])).length === 1
}

export interface ReconciliationEnd {
  readonly state: 'done' | 'failed'
  readonly reason: string
  readonly counts: ReconciliationRow['counts']
  readonly retry_at: Date | null
}

/** Ends a run; null when somebody else has taken it on. */
export async function finishReconciliation(
  db: Queryable,
  bucket: number,
  now: Date,
  { id, attempt }: Pick<ReconciliationRow, 'id' | 'attempt'>,
  end: ReconciliationEnd,
): Promise<ReconciliationRow | null> {
  const [row] = await db.query<ReconciliationRow>(FINISH, [
    bucket,
    id,
    attempt,
    end.state,
    now,
    end.reason,
    JSON.stringify(end.counts),
    end.retry_at,
  ])
  return row ?? null
}

/** The newest runs first. */
export function listReconciliations(
  db: Queryable,
  bucket: number,
  endpoint: string | null,
  limit: number,
): Promise<ReconciliationRow[]> {
  return db.query<ReconciliationRow>(LIST, [bucket, endpoint, limit])
}
