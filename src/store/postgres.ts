import pg from 'pg'
import { Fault } from '../facts/fault.ts'
import type { Database, Parameter, Statement, Transaction } from './database.ts'
import { driverFault, openingFault } from './driver-fault.ts'
import { inTransaction } from './in-transaction.ts'
import { PostgresListener } from './postgres-listener.ts'
import { PostgresSession } from './postgres-session.ts'

export interface PostgresOptions {
  /** A connection URL. Either this or `pool`. */
  readonly url?: string
  /** The user's own pool: used, never closed, and its sessions are left as they were. */
  readonly pool?: pg.Pool
  /** The most connections that a pool of our own opens. Default 10; ignored with `pool`. */
  readonly max?: number
  /** Shown as application_name. Default `paidonce`. */
  readonly name?: string
  /** The schema that holds our tables: lower-case letters, digits, underscores. Default `paidonce`. */
  readonly schema?: string
  /** Session settings, as `{ plan_cache_mode: 'force_custom_plan' }`; on the user's pool they are set per transaction. */
  readonly settings?: Readonly<Record<string, string>>
  /** How long to wait for a connection before Fault `database_busy` or `database_unavailable`. Default 5000; ignored with `pool`. */
  readonly connect_timeout_ms?: number
}

const oldestVersion = 140_000

/**
 * Opens PostgreSQL 14 or later. Asks the server once for its version, so a wrong URL fails here.
 * Throws Fault `database_unavailable`, `database_busy` or `config_invalid`.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  if ((options.url === undefined) === (options.pool === undefined)) {
    throw new Fault('config_invalid', 'Give the database either as a URL or as a pool, and not both.')
  }
  const schema = checkedSchema(options.schema ?? 'paidonce')
  const probe = await probeServer(options)
  const search_path = `${schema}, ${probe.user_search_path}`
  const settings = { search_path, ...options.settings }
  const pool = options.pool ?? openPool(options, { ...probe.settings, ...settings })
  return new PostgresDatabase({
    pool,
    owned: options.pool === undefined,
    schema,
    user_search_path: probe.user_search_path,
    prelude: options.pool === undefined ? '' : localSettings(settings),
    listener: new PostgresListener(clientConfig(options)),
  })
}

interface Parts {
  readonly pool: pg.Pool
  readonly owned: boolean
  readonly schema: string
  readonly user_search_path: string
  readonly prelude: string
  readonly listener: PostgresListener
}

class PostgresDatabase implements Database {
  readonly driver = 'postgres'
  readonly concurrency: number
  readonly schema: string
  readonly user_search_path: string
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    this.schema = parts.schema
    this.user_search_path = parts.user_search_path
    this.concurrency = parts.pool.options.max ?? 10
  }

  async query<Row>(statement: Statement, values: readonly Parameter[] = []): Promise<Row[]> {
    // On the user's pool the search path lasts for one transaction, so even a single statement needs one.
    if (!this.#parts.owned) return inTransaction(this, (tx) => tx.query<Row>(statement, values))
    const session = await this.#acquire()
    try {
      return (await session.run(statement, values)).rows
    } finally {
      session.release()
    }
  }

  async begin(options: { readonly lock_timeout_ms?: number } = {}): Promise<Transaction> {
    const timeout = options.lock_timeout_ms
    const limit = timeout === undefined ? '' : `; set local lock_timeout = ${wholeMilliseconds(timeout)}`
    const session = await this.#acquire()
    return new PostgresTransaction(
      session,
      `begin isolation level read committed${this.#parts.prelude}${limit}`,
    )
  }

  async script(sql: string): Promise<void> {
    if (!this.#parts.owned) return inTransaction(this, (tx) => tx.script(sql))
    const session = await this.#acquire()
    try {
      await session.script(sql)
    } finally {
      session.release()
    }
  }

  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
    return this.#parts.listener.listen(channel, heard)
  }

  async close(): Promise<void> {
    await this.#parts.listener.close()
    if (this.#parts.owned && !this.#parts.pool.ending) await this.#parts.pool.end()
  }

  async #acquire(): Promise<PostgresSession> {
    try {
      return new PostgresSession(await this.#parts.pool.connect())
    } catch (error) {
      throw driverFault(error)
    }
  }
}

class PostgresTransaction implements Transaction {
  readonly #session: PostgresSession
  readonly #begun: Promise<string>
  #refusal: Error | undefined
  #spoiled: unknown
  finished = false

  constructor(session: PostgresSession, begin: string) {
    this.#session = session
    // Not awaited: the first statements share its round trip. What it throws is thrown by the first to need it.
    this.#begun = session.script(begin)
    this.#begun.catch((error) => this.#refuse(error))
  }

  async query<Row>(statement: Statement, values: readonly Parameter[] = []): Promise<Row[]> {
    this.#check()
    try {
      return (await this.#session.run(statement, values)).rows
    } catch (error) {
      this.#spoiled ??= error instanceof TypeError ? error : undefined
      throw error
    }
  }

  async script(sql: string): Promise<void> {
    this.#check()
    await this.#session.script(sql)
  }

  async commit(): Promise<void> {
    this.#check()
    this.finished = true
    // A statement that could not be encoded was never sent, so the server would commit without it.
    if (this.#spoiled !== undefined) throw await this.#rolledBack(this.#spoiled)
    try {
      await this.#begun
      if ((await this.#session.script('commit')) === 'COMMIT') return
      throw commitFailed()
    } finally {
      this.#session.release()
    }
  }

  async rollback(): Promise<void> {
    if (this.finished) return
    this.finished = true
    await this.#rollBack()
  }

  async destroy(): Promise<void> {
    this.finished = true
    this.#session.destroy()
  }

  async #rolledBack(cause: unknown): Promise<Fault> {
    await this.#rollBack()
    return commitFailed(cause)
  }

  async #rollBack(): Promise<void> {
    try {
      await this.#begun
      await this.#session.script('rollback')
      this.#session.release()
    } catch {
      this.#session.destroy()
    }
  }

  #refuse(error: Error): void {
    this.#refusal = error
    this.#session.destroy()
  }

  #check(): void {
    if (this.#refusal !== undefined) throw this.#refusal
    if (this.finished) throw new Error('This transaction is finished. Begin another for further statements.')
  }
}

function commitFailed(cause?: unknown): Fault {
  return new Fault(
    'commit_failed',
    'The database rolled back instead of committing, because an earlier statement failed. Repeat the transaction.',
    { retriable: true, cause },
  )
}

function wholeMilliseconds(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new Fault('config_invalid', `A lock timeout is a whole number of milliseconds, not ${value}.`)
}

function checkedSchema(schema: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) return schema
  throw new Fault('config_invalid', `The schema name ${schema} may hold only a to z, 0 to 9 and underscores.`)
}

interface Probe {
  readonly user_search_path: string
  readonly settings: Readonly<Record<string, string>>
}

async function probeServer(options: PostgresOptions): Promise<Probe> {
  const client = options.pool === undefined ? new pg.Client(clientConfig(options)) : undefined
  client?.on('error', () => undefined)
  try {
    await client?.connect()
    return await probe(client ?? options.pool!)
  } catch (error) {
    throw openingFault(error)
  } finally {
    await client?.end().catch(() => undefined)
  }
}

async function probe(server: Pick<pg.ClientBase, 'query'>): Promise<Probe> {
  const { rows } = await server.query(
    `select current_setting('server_version_num')::int as version, current_setting('search_path') as search_path`,
  )
  const { version, search_path } = rows[0] as { version: number; search_path: string }
  if (version < oldestVersion) {
    throw new Fault('config_invalid', `PostgreSQL 14 or later is needed, this server is ${version / 10_000}.`)
  }
  return {
    user_search_path: search_path === '' ? '""' : search_path,
    settings: await supportedSettings(server),
  }
}

/** Lets the server notice within a second that a destroyed transaction's socket is gone, where its platform can. */
async function supportedSettings(server: Pick<pg.ClientBase, 'query'>): Promise<Record<string, string>> {
  const always = { DateStyle: 'ISO' }
  const noticing = { client_connection_check_interval: '1000' }
  return server.query(`select set_config('client_connection_check_interval', '1000', true)`).then(
    () => ({ ...always, ...noticing }),
    () => always,
  )
}

function clientConfig(options: PostgresOptions): pg.ClientConfig {
  const name = options.name ?? 'paidonce'
  if (options.pool !== undefined) return { ...options.pool.options, application_name: name }
  return {
    connectionString: options.url!,
    fallback_application_name: name,
    connectionTimeoutMillis: options.connect_timeout_ms ?? 5000,
    keepAlive: true,
  }
}

function openPool(options: PostgresOptions, settings: Readonly<Record<string, string>>): pg.Pool {
  const { url, given } = splitOptions(options.url!)
  const pool = new pg.Pool({
    ...clientConfig(options),
    connectionString: url,
    options: [given, ...Object.entries(settings).map(startupSetting)].join(' ').trim(),
    max: options.max ?? 10,
    pipeline: true,
  })
  // An idle connection that dies is dropped by the pool and replaced at the next use.
  pool.on('error', () => undefined)
  return pool
}

function startupSetting([name, value]: [string, string]): string {
  return `-c ${name}=${value.replace(/[\\\s]/g, '\\$&')}`
}

/** Takes `options=` out of a URL, since there it would replace the options that we add. */
function splitOptions(url: string): { url: string; given: string } {
  const found = /([?&])options=([^&]*)(&?)/.exec(url)
  if (found === null) return { url, given: '' }
  const separator = found[3] === '' ? '' : found[1]!
  return {
    url: url.slice(0, found.index) + separator + url.slice(found.index + found[0].length),
    given: decodeURIComponent(found[2]!.replaceAll('+', ' ')),
  }
}

function localSettings(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) =>
      name === 'search_path' ? `; set local search_path to ${value}` : localSetting(name, value),
    )
    .join('')
}

function localSetting(name: string, value: string): string {
  if (!/^[a-z_.]+$/i.test(name))
    throw new Fault('config_invalid', `The database setting ${name} is not a setting's name.`)
  return `; set local ${name} to ${pg.escapeLiteral(value)}`
}
