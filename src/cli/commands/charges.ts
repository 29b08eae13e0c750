import type { Register } from '../command.ts'
import { actorName, operationInWords, readMoney } from '../operation-words.ts'

interface ChargeFlags {
  readonly key: string
  readonly endpoint: string
  readonly customer: string
  readonly method?: string
  readonly amount?: string
  readonly currency?: string
  readonly actor?: string
  readonly later?: boolean
}

export const registerCharges: Register = (program, act) => {
  const charges = program.command('charges').description('money to be taken from a stored means of payment')
  const create = charges
    .command('create <order>')
    .description('ask the provider to charge an order to a stored means of payment')
    .requiredOption('--key <key>', 'your own name of this charge; the same again asks for nothing new')
    .requiredOption('--endpoint <name>', 'whose credentials are used')
    .requiredOption('--customer <id>', "the provider's id of the customer")
    .option('--method <id>', "the provider's id of the stored means of payment")
    .option('--amount <amount>', 'how much, in major units (default: all that is owed)')
    .option('--currency <code>', 'currency of the amount; has to be that of the order')
    .option('--later', 'leave it to `paidonce work` or `serve`')
    .option('--actor <name>', 'who asks (default: your user name here)')
  act<ChargeFlags>(create, async (context, flags, order = '') => {
    const asked = {
      key: flags.key,
      order,
      ...readMoney(flags.amount, flags.currency),
      endpoint: flags.endpoint,
      customer: flags.customer,
      method: flags.method,
      asked_by: actorName(flags.actor),
    }
    const { operations } = await context.open()
    const planned = await operations.charge(asked)
    const charge = flags.later ? planned : await operations.performNow(planned.key, planned.tenant)
    context.answer(charge, () => operationInWords(charge))
    return charge.state === 'succeeded' || (flags.later && charge.state === 'planned') ? 0 : 1
  })
}
