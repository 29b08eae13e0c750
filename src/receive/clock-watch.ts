import type { Database } from '../store/database.ts'
import { closeOpenExceptions, openExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import { readClock } from '../store/queries/read-clock.ts'

/** Further apart than this, this machine's clock and the database's raise an exception, milliseconds. */
export const CLOCK_SKEW_MAX_MS = 5_000

const SUBJECT = { subject_kind: 'installation', subject_key: 'clock' } as const

/**
 * Compares this machine's clock with the database's: signed times are judged by the one, expiries by the other. Raises
 * one exception while they are far apart, closes it when they are not, and gives the difference in milliseconds.
 * @param now_ms the clock to check, Unix milliseconds
 */
export async function checkClock(
  database: Database,
  bucket: number,
  tenant: string,
  now_ms: () => number,
): Promise<number> {
  const asked_ms = now_ms()
  const clock = await readClock(database)
  // The answer was made somewhere between asking and hearing it.
  const skew_ms = Math.round((asked_ms + now_ms()) / 2 - clock.getTime())
  await inTransaction(database, async (tx) => {
    if (Math.abs(skew_ms) > CLOCK_SKEW_MAX_MS) {
      return openExceptions(tx, bucket, clock, [skewed(tenant, skew_ms, clock)])
    }
    const open = await loadOpenExceptions(tx, bucket, 'receive', [{ ...SUBJECT, tenant }])
    return closeOpenExceptions(tx, bucket, clock, open)
  })
  return skew_ms
}

function skewed(tenant: string, skew_ms: number, alert_at: Date) {
  const direction = skew_ms > 0 ? 'ahead of' : 'behind'
  return {
    ...SUBJECT,
    tenant,
    subject_id: 0n,
    kind: 'clock_skew' as const,
    cause: '-',
    origin: 'receive' as const,
    severity: 'urgent' as const,
    message: `This machine's clock is ${Math.abs(skew_ms)} ms ${direction} the database's. Signed times are judged by it, so authentic deliveries may be refused: set both clocks by NTP.`,
    alert_at,
  }
}
