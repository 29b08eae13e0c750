import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, inject } from 'vitest'
import type { Database } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { openPglite } from '../src/store/pglite.ts'
import { openPostgres, type PostgresOptions } from '../src/store/postgres.ts'
import { administer, withDatabase } from './postgres.ts'

/**
 * Gives a migrated test database. The first call of a test finds all tables empty; further calls in the same test give
 * the same data: on PostgreSQL through a pool of their own when `apart` is set, else the very same `Database`.
 * It is closed for the test, which only has to finish its transactions and stop its listening.
 */
export type OpenDatabase = (options?: OpenOptions) => Promise<Database>

export interface OpenOptions extends Pick<PostgresOptions, 'max' | 'settings' | 'name'> {
  readonly apart?: boolean
}

/** Runs the same tests on PostgreSQL and on PGlite, each with a database that no other test file shares. */
export function withDatabases(name: string, tests: (open: OpenDatabase) => void): void {
  withPostgres(name, (open) => tests(open))
  withPglite(name, tests)
}

/** Runs tests on PostgreSQL alone, for what only a server has; gives the URL of their database too. */
export function withPostgres(name: string, tests: (open: OpenDatabase, url: () => string) => void): void {
  describe(`${name} on PostgreSQL`, () => {
    const database = `paidonce_test_${randomUUID().replaceAll('-', '')}`
    const url = () => withDatabase(inject('postgresUrl'), database)
    const clone = `create database ${database} template ${inject('postgresTemplate')}`
    const opened = new Opened(
      async (options) => openPostgres({ ...options, url: url() }),
      () => administer(inject('postgresUrl'), clone),
    )
    tests(opened.open, url)
    afterAll(async () => {
      try {
        await opened.closeAll()
        expect(await connectionsLeft(database), 'connections that the tests of this file left open').toEqual(
          [],
        )
      } finally {
        await administer(inject('postgresUrl'), `drop database if exists ${database} with (force)`)
      }
    })
  })
}

/** Runs tests on PGlite alone. */
export function withPglite(name: string, tests: (open: OpenDatabase) => void): void {
  describe(`${name} on PGlite`, () => {
    const opened = new Opened(
      async ({ settings }) => openMemory(settings ?? {}),
      async () => undefined,
    )
    tests((options) => opened.open({ ...options, apart: false }))
    afterAll(() => opened.closeAll())
  })
}

async function openMemory(settings: Readonly<Record<string, string>>): Promise<Database> {
  const database = await openPglite({
    memory: true,
    template: readFileSync(inject('pgliteTemplate')),
    settings,
  })
  await migrate(database, { mode: 'test', now: new Date('2026-01-01T00:00:00Z') })
  return database
}

class Opened {
  readonly #connect: (options: OpenOptions) => Promise<Database>
  readonly #create: () => Promise<unknown>
  readonly #databases: Database[] = []
  #created: Promise<unknown> | undefined
  #shared: Promise<Database> | undefined
  #emptied: Promise<void> | undefined

  constructor(connect: (options: OpenOptions) => Promise<Database>, create: () => Promise<unknown>) {
    this.#connect = connect
    this.#create = create
    beforeEach(() => {
      this.#emptied = undefined
    })
  }

  readonly open: OpenDatabase = async (options = {}) => {
    this.#created ??= this.#create()
    await this.#created
    this.#shared ??= this.#add({ max: 10, ...options })
    this.#emptied ??= this.#shared.then(emptyTables)
    await this.#emptied
    return options.apart === true ? this.#add(options) : this.#shared
  }

  async #add({ apart: _, ...options }: OpenOptions): Promise<Database> {
    const database = await this.#connect(options)
    this.#databases.push(database)
    return database
  }

  async closeAll(): Promise<void> {
    for (const database of this.#databases) await closeUnlessBusy(database)
  }
}

const emptying = {
  name: 'test-emptying',
  text: `select string_agg(format('delete from %I.%I', schemaname, tablename), '; ') as script from pg_tables
    where schemaname = $1 and tablename not in ('installation', 'paidonce_migrations')`,
}

/**
 * Deletes rather than truncates: with few rows that is ten times as fast. Sequences go on, since whoever took a block of
 * ids in an earlier test may still hold it.
 */
async function emptyTables(database: Database): Promise<void> {
  const [row] = await database.query<{ script: string | null }>(emptying, [database.schema])
  // A transaction that an earlier test left open holds its locks: fail soon and by name instead of hanging.
  await database.script(`set lock_timeout = '5s'; ${row?.script ?? ''}; reset lock_timeout`)
}

async function closeUnlessBusy(database: Database): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error('A transaction was left open. Commit, roll back or destroy each, in a finally.')
    timer = setTimeout(() => reject(error), 5_000)
  })
  try {
    await Promise.race([database.close(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** The sessions that are still there, given a moment to end: a server notices a closed socket a little later. */
async function connectionsLeft(database: string): Promise<unknown[]> {
  const look = `select application_name, state, query from pg_stat_activity where datname = '${database}'`
  for (let attempt = 0; attempt < 50; attempt++) {
    if ((await administer(inject('postgresUrl'), look)).length === 0) return []
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return administer(inject('postgresUrl'), look)
}
