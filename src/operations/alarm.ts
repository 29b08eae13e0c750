import type { ExceptionKind } from '../facts/exception.ts'
import type { Queryable } from '../store/database.ts'
import { closeOpenExceptions, openExceptions } from '../store/exception-alerts.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'

/** Tells a person that an operation needs them. Runs in the caller's transaction; one that stands is left as it is. */
export function raiseOperation(
  db: Queryable,
  bucket: number,
  now: Date,
  row: OperationRow,
  kind: Extract<ExceptionKind, 'operation_unknown' | 'operation_failed'>,
  message: string,
  cause = '-',
): Promise<void> {
  return openExceptions(db, bucket, now, [
    {
      tenant: row.tenant,
      subject_kind: 'operation',
      subject_id: 0n,
      subject_key: row.operation_key,
      kind,
      cause,
      origin: 'operations',
      severity: kind === 'operation_unknown' ? 'urgent' : 'warning',
      message,
      alert_at: now,
    },
  ])
}

/** Closes what was raised and does not hold any more. What happened twice only a person closes. */
export async function closeAlarms(
  db: Queryable,
  bucket: number,
  now: Date,
  { tenant, operation_key }: OperationRow,
  stands: (kind: ExceptionKind) => boolean,
): Promise<void> {
  const subject = { tenant, subject_kind: 'operation' as const, subject_key: operation_key }
  const open = await loadOpenExceptions(db, bucket, 'operations', [subject])
  await closeOpenExceptions(
    db,
    bucket,
    now,
    open.filter(({ kind, cause }) => cause === '-' && !stands(kind)),
  )
}

/** Which of the two may still stand in this state. */
export function alarmsOf(row: OperationRow): (kind: ExceptionKind) => boolean {
  return (kind) => {
    if (kind === 'operation_unknown') return row.state === 'unknown' || row.state === 'in_flight'
    const held = row.state === 'planned' && row.due_at === null
    // The program that asked for a charge sees itself what came of it.
    const refundOver =
      row.kind === 'refund' && (row.state === 'failed_definitive' || row.state === 'superseded')
    return held || refundOver
  }
}

function about(row: OperationRow): string {
  const what =
    row.kind === 'refund'
      ? `Refund of payment ${row.provider_payment_id}`
      : `Charge of order ${row.order_ref}`
  return `${what} (operation ${row.operation_key})`
}

export function unknownMessage(row: OperationRow, reason: string, held: boolean): string {
  const going_on = held
    ? 'Nothing more is sent by itself.'
    : 'It is repeated and asked about by itself, as far as the provider makes that safe.'
  return `${about(row)} may or may not have happened (${reason}). ${going_on} Look for it in the provider's dashboard; then \`paidonce operations resolve ${row.operation_key}\` says what you found.`
}

export function heldMessage(row: OperationRow, reason: string): string {
  return `${about(row)} was not sent: ${reason}. If it is meant all the same, \`paidonce operations confirm ${row.operation_key}\`; else \`paidonce operations abandon ${row.operation_key}\`.`
}

export function failedMessage(row: OperationRow, reason: string): string {
  return `${about(row)} did not happen: ${reason}. Mend what stands against it, then \`paidonce operations retry ${row.operation_key}\`; or give the money back another way and close this.`
}

export function twiceMessage(row: OperationRow, first: string, second: string): string {
  return `${about(row)} seems to have been done twice: ${first} and ${second}. Compare both in the provider's dashboard and take one back.`
}
