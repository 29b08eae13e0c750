import type { ExitStatus } from './command.ts'
import { LocalHost, RanElsewhere } from './local-host.ts'
import { type Output, processOutput } from './output.ts'
import { run } from './program.ts'

export interface MainOptions {
  readonly out?: Output
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly now_ms?: () => number
}

/** Runs one command line of this process, `argv` as Node gives it, and sets the exit status. */
export async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await command(argv.slice(2))
}

/** Runs one command line and gives its exit status. For tests and programs that have no process to spare. */
export async function command(args: readonly string[], options: MainOptions = {}): Promise<ExitStatus> {
  const host = new LocalHost({
    out: options.out ?? processOutput(),
    cwd: options.cwd ?? process.cwd(),
    env: options.env ?? process.env,
    now_ms: options.now_ms ?? Date.now,
    args,
  })
  try {
    return await run(host, args)
  } catch (error) {
    if (error instanceof RanElsewhere) return error.status
    throw error
  } finally {
    await host.close()
  }
}
