import type { Queryable, Statement } from '../database.ts'

export interface ListedEvent {
  readonly id: bigint
  readonly tenant: string
  readonly provider: string
  readonly account: string
  readonly mode: string
  readonly event_key: string
  readonly endpoint: string
  readonly type: string
  readonly state: string
  readonly reason: string
  readonly secret_label: string
  readonly api_version: string | null
  readonly adapter_version: number
  readonly occurred_at: Date | null
  readonly received_at: Date
  readonly digest: Buffer
  readonly copies: bigint
  /** Why it could not be settled yet; null unless it is kept. */
  readonly why_kept: string | null
}

const COLUMNS = `e.id, e.tenant, e.provider, e.account, e.mode, e.event_key, e.endpoint, e.type, e.state, e.reason,
  e.secret_label, e.api_version, e.adapter_version, e.occurred_at, e.received_at, e.digest,
  coalesce((select sum(c.copies) from event_copies c where c.event_id = e.id and c.bucket = $1), 0)::bigint as copies,
  (select coalesce(nullif(u.last_error, ''), u.reason) from unsettled u
    where u.event_id = e.id and u.order_ref = '' and u.tenant = e.tenant and u.bucket = $1) as why_kept`

const LIST: Statement = {
  name: 'list-events',
  text: `
    select ${COLUMNS} from events e
    where e.bucket = $1 and ($2::text is null or e.state = $2) and ($3::text is null or e.type = $3)
      and ($4::text is null or e.endpoint = $4)
    order by e.id desc limit $5`,
}

const BY_KEY: Statement = {
  name: 'find-events-by-key',
  text: `select ${COLUMNS} from events e where e.event_key = $2 and e.bucket = $1 order by e.id`,
}

const TOLD: Statement = {
  name: 'list-told-facts',
  text: `
    select distinct f.id, f.kind, f.fact_key, f.subject_kind, f.content, f.recorded_at,
      coalesce(p.provider_payment_id, s.provider_subscription_id, o.reference) as subject
    from witnesses w
      join facts f on f.id = w.fact_id and f.bucket = $1
      left join payments p on f.subject_kind = 'payment' and p.id = f.subject_id and p.bucket = $1
      left join subscriptions s on f.subject_kind = 'subscription' and s.id = f.subject_id and s.bucket = $1
      left join orders o on f.subject_kind = 'order' and o.id = f.subject_id and o.bucket = $1
    where w.source_kind = 'event' and w.source_id = $2 and w.bucket = $1
    order by f.id`,
}

export interface EventFilter {
  readonly state?: string | undefined
  readonly type?: string | undefined
  readonly endpoint?: string | undefined
  readonly limit: number
}

/** Events, newest first, without their bytes. */
export function listEvents(db: Queryable, bucket: number, filter: EventFilter): Promise<ListedEvent[]> {
  const { state = null, type = null, endpoint = null, limit } = filter
  return db.query<ListedEvent>(LIST, [bucket, state, type, endpoint, limit])
}

/** The events of one key; several only when accounts or endpoints of several providers share it. */
export function findEventsByKey(db: Queryable, bucket: number, key: string): Promise<ListedEvent[]> {
  return db.query<ListedEvent>(BY_KEY, [bucket, key])
}

export interface ToldFact {
  readonly id: bigint
  readonly kind: string
  readonly fact_key: string
  readonly subject_kind: string
  readonly subject: string
  readonly content: object
  readonly recorded_at: Date
}

/** What an event has told. */
export function listToldFacts(db: Queryable, bucket: number, event_id: bigint): Promise<ToldFact[]> {
  return db.query<ToldFact>(TOLD, [bucket, event_id])
}
