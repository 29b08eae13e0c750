import type { Queryable, Statement } from '../database.ts'

/** What a server says about itself that matters to us. */
export interface ServerReport {
  readonly version: string
  readonly fsync: string
  readonly synchronous_commit: string
  readonly full_page_writes: string
  readonly isolation: string
  readonly in_recovery: boolean
  readonly now: Date
}

const INSPECT: Statement = {
  name: 'inspect-server',
  text: `
    select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('transaction_isolation') as isolation, pg_is_in_recovery() as in_recovery,
      clock_timestamp() as now`,
}

const WAITING: Statement = {
  name: 'count-what-waits',
  text: `
    select (select count(*) from unsettled where bucket = $1) as marks,
      (select min(marked_at) from unsettled where bucket = $1) as oldest_mark,
      (select count(*) from effects where state = 'dead' and bucket = $1) as dead_effects,
      (select count(*) from effects where state = 'due' and available_at < $2 and bucket = $1) as late_effects,
      (select count(*) from exceptions where state = 'open' and severity = 'urgent' and bucket = $1) as urgent_exceptions,
      (select count(*) from events where state = 'unreadable' and bucket = $1) as unreadable_events`,
}

/** What waits for someone. */
export interface Waiting {
  readonly marks: bigint
  readonly oldest_mark: Date | null
  readonly dead_effects: bigint
  readonly late_effects: bigint
  readonly urgent_exceptions: bigint
  readonly unreadable_events: bigint
}

export async function inspectServer(db: Queryable): Promise<ServerReport> {
  const [row] = await db.query<ServerReport>(INSPECT)
  return row!
}

/** @param late_before effects that were due before this time and still are */
export async function countWaiting(db: Queryable, bucket: number, late_before: Date): Promise<Waiting> {
  const [row] = await db.query<Waiting>(WAITING, [bucket, late_before])
  return row!
}
