import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Fault } from '../facts/fault.ts'
import { checkOptions, type PaidOnceOptions } from '../options.ts'
import { createPaidOnce, openDatabase, type PaidOnce } from '../paidonce.ts'
import { readInstallation } from '../store/installation.ts'
import { runThere } from './channel-client.ts'
import type { CommonOptions, ExitStatus, Host, OpenOptions } from './command.ts'
import { type Configuration, DIRECTORY, findConfiguration } from './configuration.ts'
import type { Output } from './output.ts'

/** The command ran in the process that owns the directory, and ended so. */
export class RanElsewhere extends Error {
  readonly status: ExitStatus
  constructor(status: ExitStatus) {
    super('ran elsewhere')
    this.status = status
  }
}

export interface LocalHostOptions {
  readonly out: Output
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** The command line, to be given on when the directory has another owner. */
  readonly args: readonly string[]
  readonly now_ms: () => number
}

/** Commands in a process of their own: they open the database themselves and close it when they end. */
export class LocalHost implements Host {
  readonly out: Output
  readonly now_ms: () => number
  readonly #options: LocalHostOptions
  readonly #open: PaidOnce[] = []

  constructor(options: LocalHostOptions) {
    this.#options = options
    this.out = options.out
    this.now_ms = options.now_ms
  }

  async configure(common: CommonOptions): Promise<PaidOnceOptions> {
    const { options } = await this.#find(common)
    return { ...options, mode: options.mode ?? 'test' }
  }

  async open(common: CommonOptions, { migrate = false, own = false }: OpenOptions = {}): Promise<PaidOnce> {
    const configuration = await this.#find(common)
    try {
      const paidonce = await this.#openHere(configuration, migrate)
      this.#open.push(paidonce)
      return paidonce
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'directory_in_use' || own) throw error
      const { directory = DIRECTORY } = configuration.options
      const status = await runThere(directory, this.#options.args, this.out)
      if (status === null) throw error
      throw new RanElsewhere(status)
    }
  }

  stopped(): Promise<void> {
    return new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
    })
  }

  async close(): Promise<void> {
    for (const paidonce of this.#open.splice(0)) await paidonce.close()
  }

  /** Steps of opening are news where something may be made or changed, and noise before every answer. */
  #log(tells_steps: boolean): NonNullable<PaidOnceOptions['log']> {
    return (level, message) => {
      if (level !== 'info' || tells_steps) this.out.note(`${message}\n`)
    }
  }

  async #find(common: CommonOptions): Promise<Configuration> {
    const { cwd, env } = this.#options
    const configuration = await findConfiguration(common, cwd, env)
    const { directory = DIRECTORY } = configuration.options
    const options = { ...configuration.options, directory: resolve(cwd, directory) }
    return { ...configuration, options }
  }

  async #openHere({ options: found, from }: Configuration, migrate: boolean): Promise<PaidOnce> {
    const options = { ...found, log: found.log ?? this.#log(migrate) }
    checkOptions({ ...options, mode: options.mode ?? 'test' })
    const is_new = options.database === undefined && !existsSync(join(options.directory ?? DIRECTORY, 'data'))
    if (is_new && (!migrate || options.mode === null)) {
      throw new Fault(
        'not_found',
        `There is no database in ${options.directory}. Look around with \`paidonce demo\`, or make one: \`paidonce init\`, then \`paidonce migrate\`. Others are named with --directory or --database.`,
      )
    }
    const mode = options.mode ?? (await storedMode(options, from))
    return createPaidOnce({ ...options, mode, migrate: migrate && options.migrate !== false })
  }
}

/** Without a configuration the database says which mode it belongs to. */
async function storedMode(options: Configuration['options'], from: string): Promise<PaidOnceOptions['mode']> {
  const database = await openDatabase({ ...options, mode: 'test' }, {})
  try {
    const installation = await readInstallation(database)
    if (installation) return installation.mode
  } finally {
    await database.close()
  }
  throw new Fault(
    'config_not_found',
    `The database of ${from} is not set up yet, and without a configuration nobody knows for which mode. Run \`paidonce init\`, then \`paidonce migrate\`.`,
  )
}
