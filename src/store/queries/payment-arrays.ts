import type { Parameter } from '../database.ts'
import type { PaymentWrite } from './payment-row.ts'

/** The derived columns of `payments` as parameter arrays, in the order in which insert and update name them. */
export function stateArrays(writes: readonly PaymentWrite[]): Parameter[] {
  return [
    writes.map((write) => write.linked_to),
    writes.map((write) => write.has_stand_ins),
    writes.map((write) => write.open_exceptions),
    writes.map((write) => write.state.refunds.length + write.state.disputes.length > 0),
    writes.map((write) => write.state.moved_at),
    writes.map((write) => write.state.status),
    writes.map((write) => write.state.currency),
    writes.map((write) => write.state.authorized_minor),
    writes.map((write) => write.state.captured_minor),
    writes.map((write) => write.state.refunded_minor),
    writes.map((write) => write.state.refund_pending_minor),
    writes.map((write) => write.state.disputed_minor),
    writes.map((write) => write.state.lost_minor),
    writes.map((write) => write.state.reversed_minor),
    writes.map((write) => arrayLiteral(write.state.orders_named)),
    writes.map((write) => write.aftermath),
    writes.map((write) => arrayLiteral(write.state.subscriptions_named)),
  ]
}

/** PostgreSQL has no array of arrays of different lengths, so each list travels as the text of an array. */
export function arrayLiteral(values: readonly (string | bigint)[]): string {
  return `{${values.map((value) => (typeof value === 'bigint' ? value : `"${value.replace(/[\\"]/g, '\\$&')}"`)).join(',')}}`
}
