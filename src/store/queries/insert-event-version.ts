import type { Queryable, Statement } from '../database.ts'

const LOCK: Statement = {
  name: 'lock-event',
  text: 'select id, digest from events where id = $2 and bucket = $1 for no key update',
}

const VERSIONS: Statement = {
  name: 'list-event-versions',
  text: 'select version, digest from event_versions where event_id = $2 and bucket = $1 order by version',
}

const INSERT: Statement = {
  name: 'insert-event-version',
  text: `
    insert into event_versions (bucket, event_id, version, digest, body, received_at, adapter_version)
    values ($1, $2, $3, $4, $5, $6, $7)`,
}

/**
 * Stores another content of a known event under the event's lock. Gives its version, and whether it is new; a content
 * that is known already gives its old version.
 */
export async function insertEventVersion(
  db: Queryable,
  bucket: number,
  content: { event_id: bigint; digest: Buffer; body: Uint8Array; received_at: Date; adapter_version: number },
): Promise<{ version: number; fresh: boolean }> {
  const [event] = await db.query<{ digest: Buffer }>(LOCK, [bucket, content.event_id])
  if (event?.digest.equals(content.digest)) return { version: 1, fresh: false }
  const versions = await db.query<{ version: number; digest: Buffer }>(VERSIONS, [bucket, content.event_id])
  const known = versions.find((row) => row.digest.equals(content.digest))
  if (known) return { version: known.version, fresh: false }
  const version = (versions.at(-1)?.version ?? 1) + 1
  await db.query(INSERT, [
    bucket,
    content.event_id,
    version,
    content.digest,
    content.body,
    content.received_at,
    content.adapter_version,
  ])
  return { version, fresh: true }
}
