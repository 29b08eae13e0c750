import type { Register } from '../command.ts'
import { actorName, operationInWords, readMoney } from '../operation-words.ts'

interface RefundFlags {
  readonly key: string
  readonly endpoint?: string
  readonly amount?: string
  readonly currency?: string
  readonly reason?: string
  readonly actor?: string
  readonly despiteDispute?: boolean
  readonly later?: boolean
  readonly tenant?: string
}

export const registerRefunds: Register = (program, act) => {
  const refunds = program.command('refunds').description('money to be given back')
  const create = refunds
    .command('create <payment>')
    .description('ask the provider to give a payment back: its id, or namespace/account/id')
    .requiredOption('--key <key>', 'your own name of this refund; the same again asks for nothing new')
    .option('--amount <amount>', 'how much, in major units (default: all that can be given back)')
    .option('--currency <code>', 'currency of the amount; has to be that of the payment')
    .option('--endpoint <name>', 'whose credentials are used (default: the one that has the payment)')
    .option('--reason <reason>', 'what the provider is told; a code of its own, or plain words')
    .option('--despite-dispute', 'also while a dispute about the payment is open')
    .option('--later', 'leave it to `paidonce work` or `serve`')
    .option('--actor <name>', 'who asks (default: your user name here)')
    .option('--tenant <name>', 'whose payment it is')
  act<RefundFlags>(create, async (context, flags, payment = '') => {
    const asked = {
      key: flags.key,
      payment,
      ...readMoney(flags.amount, flags.currency),
      endpoint: flags.endpoint,
      reason: flags.reason,
      despite_dispute: flags.despiteDispute,
      asked_by: actorName(flags.actor),
      tenant: flags.tenant,
    }
    const { operations } = await context.open()
    const planned = await operations.refund(asked)
    const refund = flags.later ? planned : await operations.performNow(planned.key, planned.tenant)
    context.answer(refund, () => operationInWords(refund))
    return refund.state === 'succeeded' || (flags.later && refund.state === 'planned') ? 0 : 1
  })
}
