import type { Command } from 'commander'
import type { PaidOnceOptions } from '../options.ts'
import type { PaidOnce } from '../paidonce.ts'
import { asJson } from './json.ts'
import type { Output, Progress } from './output.ts'

/** 0: all is well. 1: something is wrong, and it was said. 2: the command was called wrongly. */
export type ExitStatus = 0 | 1 | 2

/** What every command takes. */
export interface CommonOptions {
  readonly config?: string
  readonly directory?: string
  readonly database?: string
  readonly schema?: string
  readonly json?: boolean
}

/**
 * Where commands run: in a process of their own, or inside the server that owns the embedded database. A command does
 * not care which.
 */
export interface Host {
  readonly out: Output
  readonly now_ms: () => number
  /** A PaidOnce on the chosen database, closed by the host after the command. */
  open(common: CommonOptions, options?: OpenOptions): Promise<PaidOnce>
  /** The options that the chosen configuration holds, without opening its database. */
  configure(common: CommonOptions): Promise<PaidOnceOptions>
  /** Ends when the person or the system asks the process to stop. Only for commands that go on until then. */
  stopped(): Promise<void>
}

export interface OpenOptions {
  /** Bring the schema up to date first. */
  readonly migrate?: boolean
  /** This very process has to hold the database, since the command goes on running on it. */
  readonly own?: boolean
}

/** Runs a command line on a host. */
export type Run = (host: Host, args: readonly string[]) => Promise<ExitStatus>

export interface CommandContext extends Omit<Host, 'open' | 'configure'> {
  readonly common: CommonOptions
  open(options?: OpenOptions): Promise<PaidOnce>
  configure(): Promise<PaidOnceOptions>
  /** Prints the answer: as JSON when asked for, else as `human` words it. */
  answer(value: unknown, human: () => string): void
  progress(step: Progress | null): void
  /** Runs another command line, for the server that takes them from the local channel. */
  readonly run: Run
}

export type Work<Options> = (
  context: CommandContext,
  options: Options,
  ...names: string[]
) => Promise<ExitStatus>

/** Hangs work on a command: it runs when the command is called. */
export type Act = <Options>(command: Command, work: Work<Options>) => void

/** One file of `commands/`: adds its command to the program. */
export type Register = (program: Command, act: Act) => void

/** What one command sees of its host. */
export function contextOf(host: Host, common: CommonOptions, run: Run): CommandContext {
  return {
    out: host.out,
    now_ms: host.now_ms,
    common,
    open: (options) => host.open(common, options),
    configure: () => host.configure(common),
    stopped: () => host.stopped(),
    run,
    answer: (value, human) => host.out.write(common.json ? asJson(value) : human()),
    progress: (step) => {
      if (!common.json) host.out.progress(step)
    },
  }
}

/** The options that every command takes. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--json', 'print one JSON document instead of tables')
    .option('--config <file>', 'configuration file (default: paidonce.config.ts, .js or .mjs here)')
    .option('--directory <path>', 'directory of the embedded database, without a configuration file')
    .option('--database <url>', 'URL of a PostgreSQL server, without a configuration file')
    .option('--schema <name>', 'schema of our tables, without a configuration file')
}

/** Reads a whole number of at least `least` from an option. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
    throw new WrongUsage(`expected a whole number from ${least} up, not ${JSON.stringify(text)}`)
  }
}

/** The command was called with something that it cannot take. */
export class WrongUsage extends Error {}
