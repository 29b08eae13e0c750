import { Fault } from '../../facts/fault.ts'
import type { OrderItem } from '../../facts/order.ts'
import { parseDecimal } from '../../money/amount.ts'
import { exponentOf } from '../../money/currency.ts'
import { listRecentOrders, type RecentOrder } from '../../store/queries/list-recent-orders.ts'
import { type Register, WrongUsage, wholeNumber } from '../command.ts'
import { showOrder } from '../order-story.ts'
import { orderInWords } from '../order-words.ts'
import { money, table, time } from '../table.ts'

interface CreateFlags {
  readonly amount: string
  readonly currency: string
  readonly item: readonly string[]
  readonly expires?: string
  readonly account?: string
  readonly tenant?: string
}

interface ListFlags {
  readonly status?: string
  readonly limit: number
}

export const registerOrders: Register = (program, act) => {
  const orders = program.command('orders').description('what buyers owe and what they get for it')
  const create = orders
    .command('create <reference>')
    .description('register an order; doing it again with the same terms changes nothing')
    .requiredOption('--amount <amount>', 'what the buyer is asked for, in major units: 19.99')
    .requiredOption('--currency <code>', 'ISO 4217 code: EUR')
    .requiredOption('--item <items...>', 'what they get: licence:pro, or seat=5 for five of them')
    .option('--expires <time>', 'money that moves later does not fulfil it by itself; ISO 8601')
    .option('--account <name>', 'only money of this provider account fulfils it')
    .option('--tenant <name>', 'whose order it is')
  act<CreateFlags>(create, async (context, flags, reference) => {
    const { expires, account, tenant } = flags
    const currency = flags.currency.toUpperCase()
    const amount_minor = readAmount(flags.amount, currency)
    const items = flags.item.map(readItem)
    const paidonce = await context.open({ migrate: true })
    await paidonce.orders.register({
      reference: reference!,
      amount_minor,
      currency,
      items,
      expires_at: expires,
      account,
      tenant,
    })
    const story = await showOrder(paidonce, reference!, tenant)
    const { status } = story.order
    context.answer(story, () => `Order ${reference} is registered; it is ${status}.\n`)
    return 0
  })

  const show = orders
    .command('show <reference>')
    .description('everything about one order, in the order in which it happened')
    .option('--tenant <name>', 'whose order it is')
  act<{ readonly tenant?: string }>(show, async (context, { tenant }, reference) => {
    const story = await showOrder(await context.open(), reference!, tenant)
    context.answer(story, () => orderInWords(story))
    return 0
  })

  const close = orders
    .command('close <reference>')
    .description('no longer to be paid: money that moves later is kept and raised, not granted')
    .option('--expired', 'it ran out; otherwise it was canceled')
    .option('--tenant <name>', 'whose order it is')
  act<{ readonly expired?: boolean; readonly tenant?: string }>(
    close,
    async (context, { expired, tenant }, reference) => {
      const paidonce = await context.open()
      const at = new Date(context.now_ms()).toISOString()
      const how = expired ? 'expired' : 'canceled'
      await paidonce.orders.close(reference!, { how, by: 'person', at }, tenant)
      const story = await showOrder(paidonce, reference!, tenant)
      context.answer(story, () => `Order ${reference} is closed; it is ${story.order.status}.\n`)
      return 0
    },
  )

  const listed = orders
    .command('list')
    .description('orders, newest first')
    .option('--status <status>', 'only those with this status')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 50)
  act<ListFlags>(listed, async (context, filter) => {
    const { database, installation } = await context.open()
    const rows: RecentOrder[] = []
    for (let bucket = 0; bucket < installation.buckets; bucket += 1) {
      rows.push(...(await listRecentOrders(database, bucket, filter)))
    }
    context.answer(rows, () => listInWords(rows))
    return 0
  })
}

function readAmount(text: string, currency: string): bigint {
  const exponent = exponentOf(currency)
  if (exponent === null) throw new Fault('order_invalid', `${currency} is no ISO 4217 currency.`)
  const parsed = parseDecimal(text, exponent)
  if (parsed.ok) return parsed.amount_minor
  throw new WrongUsage(`${JSON.stringify(text)} is no amount of ${currency} (it has ${exponent} decimals)`)
}

function readItem(text: string): OrderItem {
  const [, item, quantity] = /^(.*?)(?:=(\d+))?$/.exec(text) as unknown as [string, string, string?]
  return { item, quantity: quantity === undefined ? 1 : Number(quantity) }
}

function listInWords(rows: readonly RecentOrder[]): string {
  if (rows.length === 0) return 'No such orders.\n'
  return table(
    ['reference', 'status', 'asked for', 'paid', 'left', 'payments', 'exceptions', 'changed'],
    rows.map((row) => [
      row.reference,
      row.status,
      money(row.amount_minor, row.currency),
      money(row.paid_minor, row.currency),
      money(row.net_minor, row.currency),
      row.payments,
      row.open_exceptions,
      time(row.updated_at),
    ]),
  )
}
