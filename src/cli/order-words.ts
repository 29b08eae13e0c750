import type { OrderStory } from './order-story.ts'
import { orderTimeline } from './order-timeline.ts'
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
    table(['when (UTC)', 'what happened', 'because'], orderTimeline(story)),
  ]
    .filter((part) => part !== false)
    .join('\n')
}
