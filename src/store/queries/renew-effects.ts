import type { Queryable, Statement } from '../database.ts'

const RENEW: Statement = {
  name: 'renew-effects',
  text: `
    with held as materialized (
      select e.id
      from unnest($2::bigint[], $3::uuid[]) as h(id, token), effects e
      where e.id = h.id and e.bucket = $1 and e.lease_token = h.token and e.state = 'due'
      order by e.id
      for no key update of e
    )
    update effects e set available_at = $4
    from held
    where e.id = held.id and e.bucket = $1
    returning e.id`,
}

/** Moves the end of leases. Gives the ids of those that were still held; the others have been lost. */
export async function renewEffects(
  db: Queryable,
  bucket: number,
  until: Date,
  leases: readonly { readonly id: bigint; readonly token: string }[],
): Promise<Set<bigint>> {
  const rows = await db.query<{ id: bigint }>(RENEW, [
    bucket,
    leases.map((lease) => lease.id),
    leases.map((lease) => lease.token),
    until,
  ])
  return new Set(rows.map((row) => row.id))
}
