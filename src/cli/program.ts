import { Command, CommanderError } from 'commander'
import { Fault } from '../facts/fault.ts'
import {
  type Act,
  type CommonOptions,
  contextOf,
  type ExitStatus,
  type Host,
  type Register,
  WrongUsage,
  withCommonOptions,
} from './command.ts'
import { registerAudit } from './commands/audit.ts'
import { registerBreaks } from './commands/breaks.ts'
import { registerCharges } from './commands/charges.ts'
import { registerDecide } from './commands/decide.ts'
import { registerDemo } from './commands/demo.ts'
import { registerDoctor } from './commands/doctor.ts'
import { registerEffects } from './commands/effects.ts'
import { registerEvents } from './commands/events.ts'
import { registerExceptions } from './commands/exceptions.ts'
import { registerInit } from './commands/init.ts'
import { registerLookup } from './commands/lookup.ts'
import { registerMigrate } from './commands/migrate.ts'
import { registerOperations } from './commands/operations.ts'
import { registerOrders } from './commands/orders.ts'
import { registerReconcile } from './commands/reconcile.ts'
import { registerRefunds } from './commands/refunds.ts'
import { registerReplay } from './commands/replay.ts'
import { registerSend } from './commands/send.ts'
import { registerServe } from './commands/serve.ts'
import { registerWork } from './commands/work.ts'
import { packageVersion } from './package-version.ts'

const COMMANDS: readonly Register[] = [
  registerInit,
  registerDoctor,
  registerMigrate,
  registerServe,
  registerWork,
  registerDemo,
  registerSend,
  registerOrders,
  registerEvents,
  registerDecide,
  registerExceptions,
  registerEffects,
  registerReplay,
  registerLookup,
  registerReconcile,
  registerBreaks,
  registerRefunds,
  registerCharges,
  registerOperations,
  registerAudit,
]

/** Runs one command line and gives its exit status. Faults are printed as `code: message`. */
export async function run(host: Host, args: readonly string[]): Promise<ExitStatus> {
  let status: ExitStatus = 0
  const program = new Command('paidonce')
    .description('Paid once, recorded once, fulfilled once: payment webhooks settled on PostgreSQL.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.out.write(text),
      writeErr: (text) => host.out.note(text),
      getOutHelpWidth: () => host.out.columns ?? 100,
      getErrHelpWidth: () => host.out.columns ?? 100,
    })
  const act: Act = (command, work) => {
    withCommonOptions(command).action(async (...given: unknown[]) => {
      const names = given.slice(0, -2) as string[]
      const options = command.opts() as CommonOptions
      status = await work(contextOf(host, options, run), options as never, ...names)
    })
  }
  for (const register of COMMANDS) register(program, act)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return status
  } catch (error) {
    host.out.progress(null)
    return explain(host, error)
  }
}

function explain(host: Host, error: unknown): ExitStatus {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof WrongUsage) {
    host.out.note(`wrong usage: ${error.message}\n`)
    return 2
  }
  if (error instanceof Fault) {
    host.out.note(`${error.code}: ${error.message}\n`)
    return 1
  }
  throw error
}
