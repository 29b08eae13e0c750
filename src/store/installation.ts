import { Fault } from '../facts/fault.ts'
import type { Queryable, Statement, Transaction } from './database.ts'

/** What was fixed for this database when it was made. */
export interface Installation {
  readonly mode: 'live' | 'test'
  /** How many buckets the keys are spread over. */
  readonly buckets: number
  /** Part of every revision told to the outside; raised when an older copy of the database is restored. */
  readonly epoch: bigint
}

const findInstallation: Statement = {
  name: 'find-installation',
  text: `select to_regclass('installation') is not null as exists`,
}

const selectInstallation: Statement = {
  name: 'select-installation',
  text: 'select mode, buckets, epoch from installation',
}

const insertInstallation: Statement = {
  name: 'insert-installation',
  text: `insert into installation (mode, buckets, epoch, created_at) values ($1, $2, 1, $3) on conflict do nothing`,
}

/**
 * Reads what this database is, or undefined when it is not set up yet.
 * Throws Fault `mode_mismatch` when it belongs to the other mode than the one given.
 */
export async function readInstallation(
  queryable: Queryable,
  mode?: 'live' | 'test',
): Promise<Installation | undefined> {
  const [table] = await queryable.query<{ exists: boolean }>(findInstallation)
  if (table?.exists !== true) return undefined
  const [installation] = await queryable.query<Installation>(selectInstallation)
  if (installation !== undefined && mode !== undefined && installation.mode !== mode) {
    throw new Fault(
      'mode_mismatch',
      `This database belongs to mode ${installation.mode}, and mode ${mode} was asked for. Use a database of its own for each mode.`,
    )
  }
  return installation
}

/** Writes the one row that says what this database is, unless it is there. Throws as `readInstallation`, and `config_invalid` for other buckets. */
export async function createInstallation(
  transaction: Transaction,
  wanted: { readonly mode: 'live' | 'test'; readonly buckets?: number; readonly now: Date },
): Promise<Installation> {
  await transaction.query(insertInstallation, [wanted.mode, wanted.buckets ?? 1, wanted.now])
  const installation = (await readInstallation(transaction, wanted.mode))!
  if (wanted.buckets !== undefined && wanted.buckets !== installation.buckets) {
    throw new Fault(
      'config_invalid',
      `This database was made with ${installation.buckets} buckets and cannot have ${wanted.buckets}. Leave the setting as it was.`,
    )
  }
  return installation
}
