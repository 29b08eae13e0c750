import { userInfo } from 'node:os'
import { parseDecimal } from '../money/amount.ts'
import { exponentOf } from '../money/currency.ts'
import type { Operation, OperationStory } from '../operations/operation.ts'
import { WrongUsage } from './command.ts'
import { list, money, table, time } from './table.ts'

/** An amount in major units, of a currency that has to be named with it. */
export function readMoney(
  amount: string | undefined,
  currency: string | undefined,
): { amount_minor: bigint | undefined; currency: string | undefined } {
  const code = currency?.toUpperCase()
  if (amount === undefined) return { amount_minor: undefined, currency: code }
  if (code === undefined) throw new WrongUsage('--amount needs --currency')
  const exponent = exponentOf(code)
  const parsed = exponent === null ? null : parseDecimal(amount, exponent)
  if (parsed?.ok && parsed.amount_minor > 0n) return { amount_minor: parsed.amount_minor, currency: code }
  throw new WrongUsage(`${JSON.stringify(amount)} is no amount of ${code}`)
}

export function actorName(given: string | undefined): string {
  return given ?? userInfo().username
}

const NEXT: Readonly<Record<Operation['state'], string>> = {
  planned: 'it is sent by `paidonce work` or `serve`',
  in_flight: 'it is being sent',
  succeeded: 'the provider took it on',
  failed_definitive: 'it did not happen; `paidonce operations retry` begins a new attempt',
  unknown: 'nobody knows yet whether it happened; it is found out by itself as far as that is safe',
  abandoned: 'given up',
  superseded: 'not needed or not possible any more; nothing was sent',
}

export function operationInWords(operation: Operation): string {
  const { kind, payment, order, amount_minor, currency, code, reason, provider_id } = operation
  return list([
    ['operation', operation.key],
    ['asks for', `${kind} of ${money(amount_minor, currency)}`],
    [kind === 'refund' ? 'payment' : 'order', kind === 'refund' ? payment : order],
    ['endpoint', operation.endpoint],
    ['state', operation.state],
    ['means', operation.waits_for_person ? 'a person has to say what happens' : NEXT[operation.state]],
    ['because', [reason, code && `(${code})`].filter(Boolean).join(' ')],
    ["provider's id", provider_id],
    ['attempt', operation.attempt],
    ['next try', operation.next_try_at],
  ])
}

export function storyInWords(story: OperationStory): string {
  const requests = table(
    ['request', 'attempt', 'key at the provider', 'sent', 'outcome', 'reason'],
    story.requests.map((one) => [
      one.number,
      one.attempt,
      one.provider_key,
      time(one.sent_at),
      one.outcome || 'no answer',
      one.reason.slice(0, 60),
    ]),
  )
  const notes = story.notes.map(
    (note) => `${time(note.noted_at)}  ${note.actor} said ${note.said}: ${note.words}\n`,
  )
  return [operationInWords(story), story.requests.length > 0 ? `\n${requests}` : '', ...notes].join('')
}

export function operationTable(rows: readonly Operation[]): string {
  if (rows.length === 0) return 'No such operations.\n'
  return table(
    ['operation', 'kind', 'of', 'amount', 'state', 'why', 'created'],
    rows.map((row) => [
      row.key,
      row.kind,
      row.kind === 'refund' ? row.payment : row.order,
      money(row.amount_minor, row.currency),
      row.waits_for_person ? `${row.state}, waits for a person` : row.state,
      row.code || row.reason.slice(0, 40),
      row.created_at,
    ]),
  )
}
