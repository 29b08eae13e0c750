import { createHash } from 'node:crypto'

/** One step of the schema. Once released its SQL never changes; a later step mends it. */
export interface Migration {
  /** From 1, without gaps. */
  readonly number: number
  readonly name: string
  /** Plain SQL, run whole in one transaction with our schema first on the search path. */
  readonly sql: string
}

/** SHA-256 of the SQL in hexadecimal, kept with each applied migration. */
export function migrationChecksum(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex')
}

/** `0001-spine`, as the file is called. */
export function migrationTitle(migration: Pick<Migration, 'number' | 'name'>): string {
  return `${String(migration.number).padStart(4, '0')}-${migration.name}`
}
