import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { PGlite } from '@electric-sql/pglite'
import { Fault } from '../facts/fault.ts'
import type { Database, Parameter, Statement, Transaction } from './database.ts'
import { lockDirectory } from './directory-lock.ts'
import { driverFault } from './driver-fault.ts'
import { PgliteSession } from './pglite-session.ts'

export interface PgliteOptions {
  /** Where the data is kept. Created when absent; owned by one process at a time. Either this or `memory`. */
  readonly directory?: string
  /** Keeps everything in memory; gone after `close`. */
  readonly memory?: true
  /** A dumped data directory (a tar, gzipped or not) to start a new database from. */
  readonly template?: Blob | Uint8Array
  /** The schema that holds our tables: lower-case letters, digits, underscores. Default `paidonce`. */
  readonly schema?: string
  /** Session settings. Never a statement or idle-in-transaction timeout: PGlite ignores the one and hangs with the other. */
  readonly settings?: Readonly<Record<string, string>>
  /** Hears what takes long, in words for a person. */
  readonly onProgress?: (message: string) => void
}

/**
 * Opens the embedded PostgreSQL. A new directory takes 5 to 10 s, an existing one about a second.
 * What is committed survives a crash of the process, but not a loss of power: nothing is forced to the disk.
 * Throws Fault `directory_in_use`, `config_invalid`.
 */
export async function openPglite(options: PgliteOptions): Promise<Database> {
  if ((options.directory === undefined) === (options.memory === undefined)) {
    throw new Fault(
      'config_invalid',
      'Give the embedded database either a directory or memory: true, and not both.',
    )
  }
  const schema = options.schema ?? 'paidonce'
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Fault(
      'config_invalid',
      `The schema name ${schema} may hold only a to z, 0 to 9 and underscores.`,
    )
  }
  const settings = checkedSettings(options.settings ?? {})
  const { pglite, unlock } = await start(options)
  const session = new PgliteSession(pglite)
  try {
    const user_search_path = '"$user", public'
    await session.script(`set search_path to ${schema}, ${user_search_path}`)
    for (const setting of settings) await session.run(applySetting, setting)
    return new PgliteDatabase({ session, schema, user_search_path, unlock })
  } catch (error) {
    await session.close()
    await unlock()
    throw error
  }
}

const applySetting: Statement = { name: 'apply-setting', text: 'select set_config($1, $2, false)' }

function checkedSettings(settings: Readonly<Record<string, string>>): [string, string][] {
  const useless = Object.keys(settings).find((name) =>
    /^(?:statement|transaction|idle_.*)_timeout$/i.test(name),
  )
  if (useless === undefined) return Object.entries(settings)
  throw new Fault(
    'config_invalid',
    `The setting ${useless} does not work in the embedded database. Leave it out.`,
  )
}

interface Started {
  readonly pglite: PGlite
  readonly unlock: () => Promise<void>
}

async function start(options: PgliteOptions): Promise<Started> {
  const template = options.template === undefined ? {} : { loadDataDir: asBlob(options.template) }
  if (options.directory === undefined) {
    if (options.template === undefined)
      options.onProgress?.('Creating the database in memory, up to 10 seconds.')
    return { pglite: await PGlite.create('memory://', template), unlock: async () => undefined }
  }
  // PGlite's own files are open to every user of the machine; what protects them is the directory.
  await mkdir(options.directory, { recursive: true, mode: 0o700 })
  const unlock = await lockDirectory(options.directory)
  try {
    const data = join(options.directory, 'data')
    if (!existsSync(data)) await createData(data, template, options.onProgress)
    options.onProgress?.('Opening the database.')
    return { pglite: await PGlite.create(data), unlock }
  } catch (error) {
    await unlock()
    throw error
  }
}

/** Builds beside the place and renames, so that a crash on the way leaves no half database behind. */
async function createData(
  data: string,
  template: { loadDataDir?: Blob },
  onProgress: PgliteOptions['onProgress'],
): Promise<void> {
  const unfinished = `${data}.unfinished`
  onProgress?.('Creating the database, up to 10 seconds; only the first time.')
  await rm(unfinished, { recursive: true, force: true })
  const pglite = await PGlite.create(unfinished, template)
  await pglite.close()
  await rename(unfinished, data)
}

function asBlob(template: Blob | Uint8Array): Blob {
  return template instanceof Blob ? template : new Blob([template as Uint8Array<ArrayBuffer>])
}

interface Parts {
  readonly session: PgliteSession
  readonly schema: string
  readonly user_search_path: string
  readonly unlock: () => Promise<void>
}

class PgliteDatabase implements Database {
  readonly driver = 'pglite'
  readonly concurrency = 1
  readonly schema: string
  readonly user_search_path: string
  readonly #session: PgliteSession
  readonly #unlock: () => Promise<void>
  #lastTurn: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#session = parts.session
    this.#unlock = parts.unlock
    this.schema = parts.schema
    this.user_search_path = parts.user_search_path
  }

  query<Row>(statement: Statement, values: readonly Parameter[] = []): Promise<Row[]> {
    return this.#inTurn(() => this.#session.run<Row>(statement, values))
  }

  async begin(): Promise<Transaction> {
    const leave = await this.#turn()
    try {
      await this.#session.script('begin isolation level read committed')
      return new PgliteTransaction(this.#session, leave)
    } catch (error) {
      leave()
      throw driverFault(error)
    }
  }

  async script(sql: string): Promise<void> {
    await this.#inTurn(() => this.#session.script(sql))
  }

  async listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
    const stop = this.#session.hear(channel, heard)
    await this.script(`listen "${channel.replaceAll('"', '""')}"`)
    return async () => stop()
  }

  close(): Promise<void> {
    this.#closing ??= this.#turn(true).then(async (leave) => {
      await this.#session.close()
      await this.#unlock()
      leave()
    })
    return this.#closing
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.#turn()
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /** Waits until all who came before have left: first come, first served. Resolves to the function that leaves. */
  async #turn(closing = false): Promise<() => void> {
    if (this.#closing !== undefined && !closing) {
      throw new Fault('shutting_down', 'The embedded database is closed. Open it again.')
    }
    const before = this.#lastTurn
    let leave = (): void => undefined
    this.#lastTurn = new Promise((resolve) => {
      leave = resolve
    })
    await before
    // PGlite computes on this thread; between turns, sockets and timers must have theirs.
    await setImmediate()
    return leave
  }
}

class PgliteTransaction implements Transaction {
  readonly #session: PgliteSession
  readonly #leave: () => void
  #spoiled: unknown
  finished = false

  constructor(session: PgliteSession, leave: () => void) {
    this.#session = session
    this.#leave = leave
  }

  async query<Row>(statement: Statement, values: readonly Parameter[] = []): Promise<Row[]> {
    this.#check()
    try {
      return await this.#session.run<Row>(statement, values)
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
    try {
      // A statement that could not be encoded never ran, so the commit would be without it.
      const command = this.#spoiled === undefined ? 'commit' : 'rollback'
      if ((await this.#session.script(command)) === 'COMMIT') return
      throw new Fault(
        'commit_failed',
        'The database rolled back instead of committing, because an earlier statement failed. Repeat the transaction.',
        { retriable: true, cause: this.#spoiled },
      )
    } finally {
      this.#leave()
    }
  }

  async rollback(): Promise<void> {
    if (this.finished) return
    this.finished = true
    await this.#session.script('rollback').catch(() => undefined)
    this.#leave()
  }

  destroy(): Promise<void> {
    return this.rollback()
  }

  #check(): void {
    if (this.finished) throw new Error('This transaction is finished. Begin another for further statements.')
  }
}
