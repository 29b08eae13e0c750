import type { CommandContext, Register } from '../command.ts'
import { startService, workOnce } from '../service.ts'
import { describe, openChannelOf } from './serve.ts'

export const registerWork: Register = (program, act) => {
  const command = program
    .command('work')
    .description('deliver effects and settle what was kept, without receiving')
    .option('--once', 'deliver what is due now, then exit')
  act<{ readonly once?: boolean }>(command, async (context, { once }) => {
    const paidonce = await context.open({ migrate: true, own: true })
    if (once) {
      await workOnce(paidonce, output(context))
      return 0
    }
    const service = await startService(paidonce, { deliver: true, sweep: true, ...output(context) })
    const channel = await openChannelOf(context, paidonce)
    context.out.note('Working. Stop with Ctrl-C.\n')
    await context.stopped()
    await channel?.close()
    await service.stop()
    return 0
  })
}

function output({ out }: CommandContext) {
  return {
    onError: (error: unknown) => out.note(`${describe(error)}\n`),
    writeLine: (line: string) => out.write(line),
  }
}
