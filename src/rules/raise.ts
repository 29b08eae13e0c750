import type { ExceptionDue, ExceptionKind, Severity } from '../facts/exception.ts'
import { formatMinor } from '../money/format.ts'
import { compareText } from './instant.ts'

/**
 * One exception as data.
 * @param alert_after_ms how long it may stand before a person is told; 0 for at once
 */
export function raise(
  kind: ExceptionKind,
  cause: string,
  severity: Severity,
  message: string,
  alert_after_ms = 0,
): ExceptionDue {
  return { kind, cause, severity, message, alert_after_ms }
}

/** Sorted by kind and cause, so that equal states are equal values. */
export function sortExceptions(exceptions: readonly ExceptionDue[]): ExceptionDue[] {
  return [...exceptions].sort((a, b) => compareText(a.kind, b.kind) || compareText(a.cause, b.cause))
}

/** An amount for a message; says so where its currency is not known. */
export function amountText(amount_minor: bigint | null, currency: string | null): string {
  if (amount_minor === null) return 'an unknown amount'
  return currency === null
    ? `${amount_minor} minor units of an unknown currency`
    : formatMinor(amount_minor, currency)
}
