import { existsSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { Fault } from '../facts/fault.ts'
import type { PaidOnceOptions } from '../options.ts'
import type { CommonOptions } from './command.ts'
import { readDemoMarker } from './demo-marker.ts'

const NAMES = ['paidonce.config.ts', 'paidonce.config.js', 'paidonce.config.mjs']
/** Where the embedded database lives unless somebody says otherwise. */
export const DIRECTORY = '.paidonce'

/** Where the options of a command come from. */
export interface Configuration {
  /** What the file exports; without a file only where the database is, and what else is known of it. */
  readonly options: Omit<PaidOnceOptions, 'mode'> & { readonly mode: PaidOnceOptions['mode'] | null }
  /** The file; null when there is none. */
  readonly file: string | null
  /** In words, for a person. */
  readonly from: string
}

/**
 * Finds the options: the file that is named or lies here; else what the command line says; else the demo's database, if
 * one ran here; else DATABASE_URL; else the embedded database in `.paidonce`.
 * Throws Fault `config_not_found`, `config_invalid`.
 */
export async function findConfiguration(
  common: CommonOptions,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Configuration> {
  const file = configFile(common, cwd)
  if (file !== null) return { options: withFlags(await load(file), common), file, from: file }
  const schema = common.schema === undefined ? {} : { schema: common.schema }
  if (common.database !== undefined) return bare({ database: common.database, ...schema }, '--database')
  const directory = resolve(cwd, common.directory ?? DIRECTORY)
  const marker = readDemoMarker(directory)
  if (marker) {
    const where = marker.database === null ? { directory } : { database: marker.database }
    // Loaded for a demo alone: it brings every provider.
    const { castEndpoints } = await import('./demo/cast/cast.ts')
    const endpoints = castEndpoints(marker.secret)
    const from = `the demo in ${directory}`
    return {
      options: { mode: 'live', endpoints, schema: marker.schema, ...where, ...schema },
      file: null,
      from,
    }
  }
  if (common.directory !== undefined) return bare({ directory, ...schema }, '--directory')
  const url = env.DATABASE_URL?.trim()
  if (url) return bare({ database: url, ...schema }, 'DATABASE_URL')
  return bare({ directory, ...schema }, directory)
}

function bare(where: Partial<PaidOnceOptions>, from: string): Configuration {
  return { options: { mode: null, endpoints: {}, ...where }, file: null, from }
}

/** The command line may point a configuration at another database. */
function withFlags(options: PaidOnceOptions, common: CommonOptions): PaidOnceOptions {
  const { directory, database, schema } = common
  return {
    ...options,
    ...(directory === undefined ? {} : { directory, database: undefined }),
    ...(database === undefined ? {} : { database }),
    ...(schema === undefined ? {} : { schema }),
  }
}

function configFile(common: CommonOptions, cwd: string): string | null {
  if (common.config === undefined) {
    return NAMES.map((name) => join(cwd, name)).find((file) => existsSync(file)) ?? null
  }
  const file = resolve(cwd, common.config)
  if (existsSync(file)) return file
  throw new Fault(
    'config_not_found',
    `There is no configuration file ${file}. Make one with \`paidonce init\`, or correct --config.`,
  )
}

/** What a configuration imports from `paidonce` is this very package, whether it is installed beside the file or not. */
const OUR_EXPORTS = Object.fromEntries(
  Object.entries({
    paidonce: '../index',
    'paidonce/stripe': '../providers/stripe/index',
    'paidonce/hmac': '../providers/hmac/index',
    'paidonce/standard-webhooks': '../providers/standard-webhooks/index',
  }).map(([name, path]) => [name, fileURLToPath(new URL(path + extname(import.meta.url), import.meta.url))]),
)

async function load(file: string): Promise<PaidOnceOptions> {
  const jiti = createJiti(import.meta.url, { moduleCache: false, alias: OUR_EXPORTS })
  let exported: unknown
  try {
    exported = await jiti.import(file, { default: true })
  } catch (cause) {
    // What it complains about itself (a missing secret, say) is already worded for its reader.
    if (cause instanceof Error && cause.name === 'Fault') throw asOurs(cause)
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Fault('config_invalid', `${file} could not be read: ${why}`, { cause })
  }
  if (typeof exported === 'object' && exported !== null && 'endpoints' in exported) {
    return exported as PaidOnceOptions
  }
  throw new Fault(
    'config_invalid',
    `${file} has to export its options as the default: \`export default { mode, endpoints, ... }\`.`,
  )
}

/** The file may have loaded a copy of this package of its own, whose Fault is another class. */
function asOurs(error: Error): Fault {
  return error instanceof Fault ? error : new Fault((error as Fault).code, error.message, { cause: error })
}
