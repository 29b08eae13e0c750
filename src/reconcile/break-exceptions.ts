import type { Severity } from '../facts/exception.ts'
import { formatMinor } from '../money/format.ts'
import { ALARMING, type BreakClass } from '../rules/reconcile.ts'
import type { Database } from '../store/database.ts'
import { closeOpenExceptions, openExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import { type BreakRow, listOpenBreaks } from '../store/queries/list-breaks.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
import type { ReconciledAccount } from '../store/queries/run-reconciliation.ts'

/** So many breaks of one account have an exception each; of more there is one that says how many. */
const EACH_MAX = 50
const PAGE = 500
/** Cause of the exception about a run that failed. */
const RUN = 'run'
/** Breaks beyond this are not even counted. */
const COUNTED_MAX = 100_000

const MONEY_AT_STAKE: ReadonlySet<BreakClass> = new Set<BreakClass>([
  'missing_external',
  'unexplained_refund',
  'amount_mismatch',
  'currency_mismatch',
])

/**
 * Brings the exceptions about an account's breaks in line with what is open: one per break, as long as they are few.
 * @param failure why the last run did not come to its end; null when it did, undefined to leave what stands about that
 */
export async function raiseBreaks(
  database: Database,
  bucket: number,
  now: Date,
  account: ReconciledAccount & { readonly endpoint: string },
  failure: string | null | undefined,
): Promise<void> {
  const { tenant, endpoint } = account
  const due = await dueOf(database, bucket, now, account, failure ?? null)
  const subject = { tenant, subject_kind: 'endpoint' as const, subject_key: endpoint }
  await inTransaction(database, async (tx) => {
    const standing = await loadOpenExceptions(tx, bucket, 'reconcile', [subject])
    const wanted = new Set(due.map(({ cause }) => cause))
    await closeOpenExceptions(
      tx,
      bucket,
      now,
      standing.filter(({ cause }) => !wanted.has(cause) && (cause !== RUN || failure !== undefined)),
    )
    await openExceptions(tx, bucket, now, due)
  })
}

async function dueOf(
  database: Database,
  bucket: number,
  now: Date,
  account: ReconciledAccount & { readonly endpoint: string },
  failure: string | null,
): Promise<NewException[]> {
  const about = (cause: string, severity: Severity, message: string): NewException => ({
    tenant: account.tenant,
    subject_kind: 'endpoint',
    subject_id: 0n,
    subject_key: account.endpoint,
    kind: 'recon_break',
    cause,
    origin: 'reconcile',
    severity,
    message,
    alert_at: now,
  })
  const due: NewException[] = []
  if (failure !== null) due.push(about(RUN, 'warning', failedRun(account.endpoint, failure)))
  const { first, count } = await alarming(database, bucket, account)
  for (const one of first) {
    const severity = MONEY_AT_STAKE.has(one.class) ? 'urgent' : 'warning'
    due.push(about(`${one.kind}/${one.item_id}`, severity, inWords(one)))
  }
  if (count > first.length) due.push(about('many', 'urgent', many(account.endpoint, count)))
  return due
}

async function alarming(database: Database, bucket: number, account: ReconciledAccount) {
  const first: BreakRow[] = []
  let count = 0
  for (let after: bigint | null = 0n; after !== null && count < COUNTED_MAX; ) {
    const page: BreakRow[] = await listOpenBreaks(database, bucket, account, after, PAGE)
    const loud = page.filter((one) => ALARMING.has(one.class))
    count += loud.length
    first.push(...loud.slice(0, EACH_MAX - first.length))
    after = page.length < PAGE ? null : page.at(-1)!.id
  }
  return { first, count }
}

const OBJECTS = { payments: 'Payment', refunds: 'Refund', disputes: 'Dispute' } as const

const WORDS: Readonly<Partial<Record<BreakClass, (broken: BreakRow) => string>>> = {
  missing_internal: () => 'is at the provider and could not be recorded here',
  missing_external: ({ our_minor, our_currency }) =>
    `is recorded here${amount(our_minor, our_currency)}, and the provider's complete list does not hold it`,
  amount_mismatch: (one) =>
    `is${amount(one.our_minor, one.our_currency)} here and${amount(one.their_minor, one.their_currency)} at the provider`,
  currency_mismatch: (one) => `is in ${one.our_currency} here and in ${one.their_currency} at the provider`,
  status_mismatch: (one) => `is ${one.our_status} here and ${one.their_status} at the provider`,
  duplicate_external: ({ place }) =>
    `is listed twice with different contents${place === '' ? '' : ` (${place})`}`,
  duplicate_internal: () =>
    'is recorded here under an id that the provider does not have, beside one that it has',
  unexplained_refund: ({ their_minor, their_currency }) =>
    `gave back${amount(their_minor, their_currency)} of a payment that is not known here`,
}

function inWords(broken: BreakRow): string {
  const what = `${OBJECTS[broken.kind]} ${broken.item_id} of endpoint ${broken.endpoint}`
  return `${what} ${WORDS[broken.class]?.(broken) ?? broken.class}. Look in the provider's dashboard, then \`paidonce breaks explain ${broken.id}\` or \`paidonce breaks write-off ${broken.id}\`; it closes by itself when a later run agrees.`
}

function amount(minor: string | null, currency: string): string {
  return minor === null || currency === '' ? '' : ` ${formatMinor(BigInt(minor), currency)}`
}

function many(endpoint: string, count: number): string {
  return `${count} differences with the provider of endpoint ${endpoint} are open; only the first ${EACH_MAX} have an exception of their own. See \`paidonce breaks list --endpoint ${endpoint}\`.`
}

function failedRun(endpoint: string, failure: string): string {
  return `The reconciliation of endpoint ${endpoint} did not come to its end (${failure}). Nothing wrong was written and the next run covers the same window; look at the provider's status page if this stays.`
}
