import { Fault } from '../facts/fault.ts'
import type { Database, Queryable, Statement, Transaction } from './database.ts'
import { createInstallation, type Installation, readInstallation } from './installation.ts'
import { type Migration, migrationChecksum, migrationTitle } from './migration.ts'
import { migrations as embedded } from './migrations/index.ts'

export interface MigrateOptions {
  /** The mode to which a new database belongs for ever; an existing one must have it. */
  readonly mode: 'live' | 'test'
  /** How many buckets the keys are spread over, 1 to 1024, fixed at the first migration. Default 1. */
  readonly buckets?: number
  /** Stamped on what is applied. */
  readonly now: Date
  /** Hears each step, in words for a person. */
  readonly onProgress?: (message: string) => void
  /** Runs inside the transaction of each migration, after it: the place to distribute its tables over several servers. */
  readonly afterMigration?: (migration: Migration, transaction: Transaction) => Promise<void>
  /** The migrations to apply. Default: those of this release. */
  readonly migrations?: readonly Migration[]
}

export interface Migrated {
  /** What this call applied, as `0001-spine`; empty when the schema was up to date. */
  readonly applied: readonly string[]
  readonly installation: Installation
}

/**
 * Brings the schema up to this release and marks a new database with its mode. Safe to call from several processes at
 * once and again after a crash: each migration is applied once, in a transaction of its own.
 * Throws Fault `mode_mismatch`, `schema_newer`, `schema_changed`, `config_invalid`.
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<Migrated> {
  const known = options.migrations ?? embedded
  await underLock(database, (transaction) => prepare(transaction, database.schema, options.mode))
  const applied: string[] = []
  for (const migration of known) {
    const done = await underLock(database, (transaction) => applyOnce(transaction, migration, known, options))
    if (done) applied.push(migrationTitle(migration))
  }
  const installation = await underLock(database, (transaction) => createInstallation(transaction, options))
  return { applied, installation }
}

/**
 * The migrations that this database still needs, as `0001-spine`. Changes nothing.
 * Throws Fault `schema_newer` or `schema_changed` when it and this release do not belong together.
 */
export async function pendingMigrations(
  database: Database,
  known: readonly Migration[] = embedded,
): Promise<string[]> {
  const [table] = await database.query<{ exists: boolean }>(findMigrations, [
    `${database.schema}.paidonce_migrations`,
  ])
  const applied = table?.exists ? await database.query<Applied>(readMigrations) : []
  return pendingOf(applied, known).map(migrationTitle)
}

interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

const findMigrations: Statement = {
  name: 'find-migrations',
  text: 'select to_regclass($1::text) is not null as exists',
}

const readMigrations: Statement = {
  name: 'read-migrations',
  text: 'select number, name, checksum from paidonce_migrations order by number',
}

const recordMigration: Statement = {
  name: 'record-migration',
  text: 'insert into paidonce_migrations (number, name, checksum, applied_at) values ($1, $2, $3, $4)',
}

const lockMigrations: Statement = {
  name: 'lock-migrations',
  text: `select pg_advisory_xact_lock(hashtext('paidonce migrations'), hashtext($1))`,
}

async function underLock<T>(database: Database, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const transaction = await database.begin()
  try {
    await transaction.query(lockMigrations, [database.schema])
    const result = await work(transaction)
    await transaction.commit()
    return result
  } finally {
    await transaction.rollback()
  }
}

async function prepare(transaction: Transaction, schema: string, mode: 'live' | 'test'): Promise<void> {
  await transaction.script(`create schema if not exists ${schema};
    create table if not exists ${schema}.paidonce_migrations (
      number integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null
    )`)
  // Before anything is applied: a test server must not migrate the live database.
  await readInstallation(transaction, mode)
}

async function applyOnce(
  transaction: Transaction,
  migration: Migration,
  known: readonly Migration[],
  options: MigrateOptions,
): Promise<boolean> {
  const pending = pendingOf(await appliedIn(transaction), known)
  if (!pending.includes(migration)) return false
  options.onProgress?.(`Applying migration ${migrationTitle(migration)}.`)
  await transaction.script(migration.sql)
  await transaction.query(recordMigration, [
    migration.number,
    migration.name,
    migrationChecksum(migration),
    options.now,
  ])
  await options.afterMigration?.(migration, transaction)
  return true
}

function appliedIn(queryable: Queryable): Promise<Applied[]> {
  return queryable.query<Applied>(readMigrations)
}

function pendingOf(applied: readonly Applied[], known: readonly Migration[]): readonly Migration[] {
  const newest = known.at(-1)?.number ?? 0
  for (const one of applied) {
    const ours = known.find(({ number }) => number === one.number)
    if (ours === undefined && one.number > newest) throw schemaNewer(one)
    if (ours === undefined || migrationChecksum(ours) !== one.checksum) throw schemaChanged(one)
  }
  const numbers = new Set(applied.map(({ number }) => number))
  return known.filter(({ number }) => !numbers.has(number))
}

function schemaNewer(applied: Applied): Fault {
  return new Fault(
    'schema_newer',
    `The database has migration ${migrationTitle(applied)}, which this release does not know. Run the release that applied it, or a later one.`,
  )
}

function schemaChanged(applied: Applied): Fault {
  return new Fault(
    'schema_changed',
    `Migration ${migrationTitle(applied)} was applied with other SQL than this release holds. Use an unmodified release; put changes into a new migration.`,
  )
}
