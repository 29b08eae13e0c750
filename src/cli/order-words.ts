import { isMoneyField } from './money-field.ts'
import type { OrderStory } from './order-story.ts'
import { list, money, table, time } from './table.ts'

/** An order for people: where it stands, then what happened. */
export function orderInWords(story: OrderStory): string {
  const { order, payments, refunds, disputes, entitlements, exceptions } = story
  const { currency } = order
  const open = exceptions.filter((exception) => exception.state === 'open')
  return [
    list([
      ['order', order.reference],
      ['status', order.status],
      ['asked for', money(order.amount_minor, currency)],
      ['paid', money(order.paid_minor, currency)],
      ['left of it', money(order.net_minor, currency)],
      ['surplus', money(order.surplus_minor, currency)],
    ]),
    entitlements.length > 0 &&
      table(
        ['right', 'quantity', 'state', 'revision'],
        entitlements.map((right) => [right.item, right.quantity, right.state, right.revision]),
      ),
    payments.length > 0 &&
      table(
        ['payment', 'status', 'captured', 'refunded', 'in dispute', 'lost', 'moved'],
        payments.map((row) => [
          row.provider_payment_id,
          row.status,
          money(row.captured_minor, row.currency),
          money(row.refunded_minor, row.currency),
          money(row.disputed_minor, row.currency),
          money(BigInt(row.lost_minor) + BigInt(row.reversed_minor), row.currency),
          time(row.moved_at),
        ]),
      ),
    refunds.length + disputes.length > 0 &&
      table(
        ['what went back', 'status', 'amount', 'when'],
        [
          ...refunds.map((row) => [
            `refund ${row.provider_refund_id}`,
            row.status,
            money(row.amount_minor, row.currency),
            time(row.moved_at),
          ]),
          ...disputes.map((row) => [
            `dispute ${row.provider_dispute_id}, ${row.stage}`,
            row.status,
            money(row.amount_minor, row.currency),
            row.respond_by === null ? '-' : `answer by ${time(row.respond_by)}`,
          ]),
        ],
      ),
    story.decisions.length > 0 &&
      table(
        ['decision', 'by', 'why', 'when', 'id'],
        story.decisions.map((one) => [
          one.decision.replaceAll('_', ' '),
          one.actor,
          one.reason,
          time(new Date(one.at)),
          one.id,
        ]),
      ),
    open.length > 0 &&
      open.map(({ severity, kind, message }) => `${severity}: ${kind}\n  ${message}\n`).join(''),
    table(['when (UTC)', 'what', 'told by, or how it ended'], timeline(story)),
  ]
    .filter((part) => part !== false)
    .join('\n')
}

interface Entry {
  readonly at: Date
  readonly what: string
  readonly rest: string
}

function timeline(story: OrderStory): [string, string, string][] {
  const entries: Entry[] = [
    ...story.facts.map((fact) => ({
      at: fact.recorded_at,
      what: `${fact.about}: ${fact.fact_key}${describe(fact.content)}${fact.live ? '' : ' (taken back)'}`,
      rest: fact.witnesses.map(witnessInWords).join('\n') || 'nobody any more',
    })),
    ...story.exceptions.map((exception) => ({
      at: exception.opened_at,
      what: `exception ${exception.kind}`,
      rest: exception.closed_at === null ? exception.state : `closed ${time(exception.closed_at)}`,
    })),
    ...story.effects.map((effect) => ({
      at: effect.created_at,
      what: `effect ${effect.topic}${effect.item === '-' ? '' : ` ${effect.item}`}${effectState(effect.payload)}`,
      rest: `${effect.state}${effect.finished_at === null ? '' : ` ${time(effect.finished_at)}`}, ${effect.attempts} attempts`,
    })),
  ]
  // What one transaction wrote stays in the order in which it was derived: facts, exceptions, effects.
  return entries
    .map((entry, place) => ({ ...entry, place }))
    .sort((a, b) => a.at.getTime() - b.at.getTime() || a.place - b.place)
    .map(({ at, what, rest }) => [time(at), what, rest])
}

function effectState(payload: Readonly<Record<string, unknown>>): string {
  return typeof payload.state === 'string' ? ` -> ${payload.state}` : ''
}

function describe(content: object): string {
  const told = content as Record<string, unknown>
  const currency = typeof told.currency === 'string' ? told.currency : null
  const amounts = Object.entries(told).flatMap(([name, value]) =>
    isMoneyField(name, value) && currency !== null ? [money(value, currency)] : [],
  )
  return amounts.length > 0 ? ` (${amounts.join(', ')})` : ''
}

function witnessInWords(witness: OrderStory['facts'][number]['witnesses'][number]): string {
  if (witness.event_key === null) return witness.source_kind
  const again = witness.copies > 0n ? `, came ${witness.copies + 1n} times` : ''
  return `${witness.type} ${witness.event_key}${again}`
}
