import { userInfo } from 'node:os'
import type { DecisionKind } from '../../facts/decision.ts'
import { parseDecimal } from '../../money/amount.ts'
import { exponentOf } from '../../money/currency.ts'
import type { PaidOnce } from '../../paidonce.ts'
import { lookAt } from '../../receive/decisions.ts'
import { readSnapshot } from '../../store/snapshot.ts'
import { type Register, WrongUsage } from '../command.ts'
import { list } from '../table.ts'

interface DecideFlags {
  readonly reason: string
  readonly actor?: string
  readonly payment?: string
  readonly amount?: string
  readonly until?: string
  readonly withdraws?: string
  readonly firm?: boolean
  readonly basedOn?: string
  readonly tenant?: string
}

const KINDS: Readonly<Record<DecisionKind, string>> = {
  accept_payment: 'a payment pays in full, though short, late or in another currency or account',
  treat_as_surplus: 'a payment counts for nothing; its refund takes nothing',
  write_off: 'a part of the price is asked for no more',
  keep_access: 'what it gives stays given, until a date or for ever',
  reopen: 'a closed or expired order takes money again',
  assign_order: 'a payment counts for this order, whatever its messages name',
  withdraw: 'takes a decision back',
}

export const registerDecide: Register = (program, act) => {
  const command = program
    .command('decide <order> <decision>')
    .description(
      `decide about an order, and settle what follows:\n${Object.entries(KINDS)
        .map(([kind, words]) => `  ${kind.padEnd(18)} ${words}`)
        .join('\n')}`,
    )
    .requiredOption('--reason <text>', 'why, for those who look later')
    .option('--actor <name>', 'who decides (default: your user name here)')
    .option('--payment <id>', 'the payment: its id, or namespace/account/id for one of no order')
    .option('--amount <amount>', 'how much is written off, in major units')
    .option('--until <time>', 'until when access is kept, ISO 8601 with a zone')
    .option('--withdraws <decision>', 'id of the decision that is taken back')
    .option('--firm', 'do not ask again when the facts move on')
    .option('--based-on <digest>', 'refuse when the facts are no longer those that were shown')
    .option('--tenant <name>', 'whose order it is')
  act<DecideFlags>(command, async (context, flags, order = '', kind = '') => {
    if (!Object.hasOwn(KINDS, kind)) {
      throw new WrongUsage(`there is no decision ${kind}; there are ${Object.keys(KINDS).join(', ')}`)
    }
    const paidonce = await context.open()
    const { reason, payment, until, withdraws, firm, basedOn, tenant } = flags
    const made = await paidonce.decisions.make({
      order,
      decision: kind as DecisionKind,
      actor: flags.actor ?? userInfo().username,
      reason,
      payment,
      amount_minor: await readAmount(paidonce, order, flags),
      until,
      withdraws,
      firm,
      based_on: basedOn,
      tenant,
    })
    context.answer(made, () =>
      list([
        ['decision', made.id],
        ['says', `${made.decision} on order ${order}`],
        ['look', `paidonce orders show ${order}`],
      ]),
    )
    return 0
  })
}

/** An amount in the currency of the order, from what a person wrote in major units. */
async function readAmount(
  paidonce: PaidOnce,
  order: string,
  { amount, tenant = paidonce.tenant }: DecideFlags,
): Promise<bigint | undefined> {
  if (amount === undefined) return undefined
  const { book } = await readSnapshot(paidonce.database, (db) =>
    lookAt(db, paidonce.bucketOf(tenant), tenant, order),
  )
  const exponent = book.terms === null ? null : exponentOf(book.terms.currency)
  const parsed = exponent === null ? null : parseDecimal(amount, exponent)
  if (parsed?.ok) return parsed.amount_minor
  throw new WrongUsage(`${JSON.stringify(amount)} is no amount in the currency of order ${order}`)
}
