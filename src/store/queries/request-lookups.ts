import type { LookupRequest } from '../../facts/lookup.ts'
import type { Queryable, Statement } from '../database.ts'

// Asked for again: `wanted` goes up, so that an answer under way does not count for it, and the earlier time stands.
const REQUEST: Statement = {
  name: 'request-lookups',
  text: `
    insert into lookups (bucket, asked_for_at, due_at, tenant, namespace, account, object, object_id, endpoint, asked_by)
    select $1, $2, l.due_at, l.tenant, l.namespace, l.account, l.object, l.object_id, l.endpoint, l.asked_by
    from unnest($3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
      as l(due_at, tenant, namespace, account, object, object_id, endpoint, asked_by)
    on conflict (object_id, object, namespace, account, tenant, bucket) do update set
      wanted = lookups.wanted + 1, attempts = 0, asked_for_at = excluded.asked_for_at, endpoint = excluded.endpoint,
      asked_by = excluded.asked_by, due_at = least(coalesce(lookups.due_at, excluded.due_at), excluded.due_at)
    returning id`,
}

/** One object of a provider. */
export interface LookupKey {
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  /** What kind of object it is, in the provider's own word. */
  readonly object: string
  readonly object_id: string
}

export interface WantedLookup extends LookupKey {
  /** The endpoint whose credentials are used. */
  readonly endpoint: string
  readonly asked_by: 'event' | 'start' | 'return' | 'person' | 'sweep'
  readonly due_at: Date
}

/** A question as it is stored; `endpoint` is the one whose credentials are used. */
export function wantedLookup(
  endpoint: {
    readonly name: string
    readonly tenant: string
    readonly provider: Pick<LookupKey, 'namespace' | 'account'>
  },
  { object, id }: LookupRequest,
  asked_by: WantedLookup['asked_by'],
  due_at: Date,
): WantedLookup {
  const { name, tenant, provider } = endpoint
  const { namespace, account } = provider
  return { tenant, namespace, account, object, object_id: id, endpoint: name, asked_by, due_at }
}

/** Asks for look-ups; one of an object that is being asked about already is asked again afterwards. Gives their ids. */
export async function requestLookups(
  db: Queryable,
  bucket: number,
  as_of: Date,
  wanted: readonly WantedLookup[],
): Promise<bigint[]> {
  const once = new Map(wanted.map((lookup) => [lookupLock(lookup), lookup]))
  const inOrder = [...once].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, lookup]) => lookup)
  const rows = await db.query<{ id: bigint }>(REQUEST, [
    bucket,
    as_of,
    inOrder.map((lookup) => lookup.due_at),
    inOrder.map((lookup) => lookup.tenant),
    inOrder.map((lookup) => lookup.namespace),
    inOrder.map((lookup) => lookup.account),
    inOrder.map((lookup) => lookup.object),
    inOrder.map((lookup) => lookup.object_id),
    inOrder.map((lookup) => lookup.endpoint),
    inOrder.map((lookup) => lookup.asked_by),
  ])
  return rows.map((row) => row.id)
}

function lookupLock({ tenant, namespace, account, object, object_id }: LookupKey): string {
  return JSON.stringify([tenant, namespace, account, object, object_id])
}
