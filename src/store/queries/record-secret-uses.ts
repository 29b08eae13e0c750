import type { Queryable, Statement } from '../database.ts'

export interface SecretUse {
  readonly tenant: string
  readonly endpoint: string
  readonly secret_label: string
  readonly first_used_at: Date
  readonly last_used_at: Date
}

const RECORD: Statement = {
  name: 'record-secret-uses',
  text: `
    insert into endpoint_secrets (bucket, tenant, endpoint, secret_label, first_used_at, last_used_at)
    select $1, u.tenant, u.endpoint, u.secret_label, u.used_at, u.used_at
    from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[]) as u(tenant, endpoint, secret_label, used_at)
    on conflict (endpoint, secret_label, tenant, bucket) do update set
      last_used_at = greatest(endpoint_secrets.last_used_at, excluded.last_used_at)`,
}

const LIST: Statement = {
  name: 'list-secret-uses',
  text: 'select tenant, endpoint, secret_label, first_used_at, last_used_at from endpoint_secrets where bucket = $1',
}

/** Notes when secrets were last used; one entry per secret in a call. */
export async function recordSecretUses(
  db: Queryable,
  bucket: number,
  uses: readonly { tenant: string; endpoint: string; secret_label: string; used_at: Date }[],
): Promise<void> {
  await db.query(RECORD, [
    bucket,
    uses.map((use) => use.tenant),
    uses.map((use) => use.endpoint),
    uses.map((use) => use.secret_label),
    uses.map((use) => use.used_at),
  ])
}

export function listSecretUses(db: Queryable, bucket: number): Promise<SecretUse[]> {
  return db.query<SecretUse>(LIST, [bucket])
}
