import { resolve } from 'node:path'
import type { PaidOnce } from '../../paidonce.ts'
import { type Channel, openChannel } from '../channel-server.ts'
import { type CommandContext, type Register, wholeNumber } from '../command.ts'
import { DIRECTORY } from '../configuration.ts'
import { startService } from '../service.ts'

interface ServeFlags {
  readonly port: number
  readonly host: string
  readonly work: boolean
}

export const registerServe: Register = (program, act) => {
  const command = program
    .command('serve')
    .description('receive deliveries, deliver effects, settle what was kept')
    .option('--port <n>', 'port; 0 for any free one', wholeNumber(0), 8480)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--no-work', 'only receive; `paidonce work` runs elsewhere')
  act<ServeFlags>(command, async (context, { port, host, work }) => {
    const paidonce = await context.open({ migrate: true, own: true })
    const service = await startService(paidonce, {
      http: { port, host },
      deliver: work,
      sweep: work,
      onError: (error) => context.out.note(`${describe(error)}\n`),
      writeLine: (line) => context.out.write(line),
    })
    const channel = await openChannelOf(context, paidonce)
    const urls = [...paidonce.endpoints.keys()].map(
      (name) => `http://${host}:${service.http!.port}/webhooks/${name}`,
    )
    context.answer({ port: service.http!.port, host, endpoints: urls }, () =>
      urls.length === 0
        ? `Listening on http://${host}:${service.http!.port}, without any endpoint.\n`
        : urls.map((url) => `Listening on ${url}\n`).join(''),
    )
    await context.stopped()
    await channel?.close()
    await service.stop()
    return 0
  })
}

/** Commands reach an embedded database only through the process that owns it. */
export async function openChannelOf(
  { now_ms, run }: Pick<CommandContext, 'now_ms' | 'run'>,
  paidonce: PaidOnce,
): Promise<Channel | null> {
  if (paidonce.database.driver !== 'pglite') return null
  const directory = resolve(paidonce.options.directory ?? DIRECTORY)
  return openChannel({ directory, paidonce, now_ms, run })
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
