import type { Gathered } from './gather.ts'
import type { OrderDraft } from './orders.ts'
import type { PaymentDraft } from './payments.ts'

/** One value that a settle would change. */
export interface Change {
  readonly table: 'payments' | 'orders' | 'entitlements'
  readonly row: string
  readonly column: string
  /** Null where there was no row. */
  readonly before: string | null
  readonly after: string
}

/** What a settle that was rehearsed would have changed of what a person sees: payments, orders and rights. */
export function changesOf(drafts: Gathered): Change[] {
  return [
    ...[...drafts.payments.values()].flatMap(paymentChanges),
    ...[...drafts.orders.values()].flatMap(orderChanges),
  ]
}

const MONEY = [
  'captured_minor',
  'refunded_minor',
  'refund_pending_minor',
  'disputed_minor',
  'lost_minor',
  'reversed_minor',
] as const

function paymentChanges({ key, row, state }: PaymentDraft): Change[] {
  if (!state) return []
  const name = [key.namespace, key.account, key.provider_payment_id].join('/')
  const before = { status: row?.status ?? null, order_refs: row?.order_refs.join(' ') ?? null }
  const after = { status: state.status, order_refs: state.orders_named.join(' ') }
  const amounts = MONEY.flatMap((column) =>
    change('payments', name, column, row ? row[column] : null, String(state[column])),
  )
  return [
    ...change('payments', name, 'status', before.status, after.status),
    ...amounts.filter((amount) => amount.before !== null || amount.after !== '0'),
    ...change('payments', name, 'order_refs', before.order_refs, after.order_refs),
  ]
}

function orderChanges(order: OrderDraft): Change[] {
  if (!order.state) return []
  const { reference } = order.key
  const rights = order.entitlements.flatMap(({ item, state }) =>
    change(
      'entitlements',
      `${reference} ${item}`,
      'state',
      order.before.find((row) => row.item === item)?.state ?? null,
      state,
    ),
  )
  const before = order.inserted ? null : order.row.status
  return [...change('orders', reference, 'status', before, order.state.status), ...rights]
}

function change(
  table: Change['table'],
  row: string,
  column: string,
  before: string | null,
  after: string,
): Change[] {
  return before === after ? [] : [{ table, row, column, before, after }]
}
