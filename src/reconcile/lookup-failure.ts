import type { Database } from '../store/database.ts'
import { closeOpenExceptions, openExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import type { LookupEnd } from '../store/queries/finish-lookup.ts'
import type { LeasedLookup } from '../store/queries/lease-lookups.ts'

/** Without credentials nothing of the endpoint can be asked, so one exception stands for all its questions. */
function causeOf(question: LeasedLookup, outcome: LookupEnd['outcome']): string {
  return outcome === 'refused' ? 'credentials' : `${question.object}/${question.object_id}`
}

/** Tells a person that the provider gives no usable answer. */
export async function raiseLookupFailure(
  database: Database,
  bucket: number,
  question: LeasedLookup,
  end: LookupEnd,
  now_ms: number,
): Promise<void> {
  const now = new Date(now_ms)
  await inTransaction(database, (tx) =>
    openExceptions(tx, bucket, now, [
      {
        tenant: question.tenant,
        subject_kind: 'endpoint',
        subject_id: 0n,
        subject_key: question.endpoint,
        kind: 'lookup_failed',
        cause: causeOf(question, end.outcome),
        origin: 'receive',
        severity: 'urgent',
        message: messageOf(question, end),
        alert_at: now,
      },
    ]),
  )
}

function messageOf({ endpoint, namespace, object, object_id }: LeasedLookup, end: LookupEnd): string {
  const what = `${namespace} ${object} ${object_id}`
  switch (end.outcome) {
    case 'refused':
      return `Endpoint ${endpoint} cannot ask ${namespace} (${end.reason}), so what a message does not prove is not settled. Mend its API credentials; it is asked again by itself every quarter of an hour.`
    case 'not_found':
      return `${namespace} says that there is no ${object} ${object_id}, although a message named it. Look for it in the provider's dashboard; \`paidonce lookup ${endpoint} ${object} ${object_id}\` asks again.`
    case 'unreadable':
      return `The answer about ${what} cannot be read (${end.reason}). Upgrade or report it; it is asked again by itself.`
    default:
      return `${what} could not be asked about (${end.reason}). It is asked again and again; look at the provider's status page.`
  }
}

/** The answers came through: what stood in their way is over. */
export async function closeLookupFailure(
  database: Database,
  bucket: number,
  question: LeasedLookup,
  now_ms: number,
): Promise<void> {
  const subject = {
    tenant: question.tenant,
    subject_kind: 'endpoint' as const,
    subject_key: question.endpoint,
  }
  const over = new Set([causeOf(question, 'refused'), causeOf(question, 'not_found')])
  const mine = (open: Awaited<ReturnType<typeof loadOpenExceptions>>) =>
    open.filter(({ kind, cause }) => kind === 'lookup_failed' && over.has(cause))
  if (mine(await loadOpenExceptions(database, bucket, 'receive', [subject])).length === 0) return
  await inTransaction(database, async (tx) => {
    const open = mine(await loadOpenExceptions(tx, bucket, 'receive', [subject]))
    await closeOpenExceptions(tx, bucket, new Date(now_ms), open)
  })
}
