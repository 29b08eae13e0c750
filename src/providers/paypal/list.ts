import type { Fact } from '../../facts/fact.ts'
import { Fault } from '../../facts/fault.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import { refundMilestone } from '../../facts/refund.ts'
import { fieldIn, listIn, textIn } from '../field.ts'
import type { ListedItem, ListedKind, LookupContext, Window } from '../lookup.ts'
import { type PaypalMoney, readMoney } from './amount.ts'
import type { ApiAnswer, PaypalApi } from './api.ts'
import { readDispute } from './dispute.ts'
import { orderReference } from './order-reference.ts'
import { idOf, type PaypalSetup, paymentSubject, timeIn } from './paypal-object.ts'

/** The report takes at most 31 days at once. */
const SLICE_MS = 31 * 86_400_000
const PAGE_SIZE = 500
/** Event codes of the report: `T00nn` are payments, `T1107` is the refund of one. */
const PAYMENT_CODE = /^T00[0-9]{2}$/
const REFUND_CODE = 'T1107'

/**
 * Everything of one kind in a window: payments and refunds from the transaction report, which lags up to three hours
 * behind; disputes by when they last changed.
 */
export async function* listPaypal(
  setup: PaypalSetup,
  api: PaypalApi,
  kind: ListedKind,
  window: Window,
  context: LookupContext,
): AsyncIterable<readonly ListedItem[]> {
  if (kind === 'disputes') return yield* listDisputes(setup, api, window, context)
  for (let from_ms = window.from_ms; from_ms < window.to_ms; from_ms += SLICE_MS) {
    const to_ms = Math.min(from_ms + SLICE_MS, window.to_ms)
    yield* listReport(setup, api, kind, { from_ms, to_ms }, context)
  }
}

async function* listReport(
  setup: PaypalSetup,
  api: PaypalApi,
  kind: 'payments' | 'refunds',
  { from_ms, to_ms }: Window,
  context: LookupContext,
): AsyncIterable<readonly ListedItem[]> {
  const startDate = new Date(from_ms).toISOString()
  // Both ends are inclusive there, and the window's end is not.
  const endDate = new Date(to_ms - 1).toISOString()
  const seen = new Set<string>()
  for (let page = 1; ; page += 1) {
    const answer = await api.call(context, (client, sdk) =>
      new sdk.TransactionSearchController(client).searchTransactions({
        startDate,
        endDate,
        fields: 'transaction_info',
        pageSize: PAGE_SIZE,
        page,
      }),
    )
    const body = bodyOf(answer)
    const details = listed(body, 'transaction_details')
    const items = details
      .map((detail) => reportedItem(setup, kind, fieldIn(detail, 'transaction_info')))
      // An id can stand twice, once for money and once for a note of it.
      .filter((item) => item !== null)
      .filter(({ id }) => !seen.has(id) && seen.add(id))
    yield items
    const pages = fieldIn(body, 'total_pages')
    if (details.length === 0 || (typeof pages === 'number' && page >= pages)) return
    if (typeof pages !== 'number' && details.length < PAGE_SIZE) return
  }
}

function reportedItem(setup: PaypalSetup, kind: 'payments' | 'refunds', info: unknown): ListedItem | null {
  const code = textIn(info, 'transaction_event_code') ?? ''
  if (kind === 'payments' ? !PAYMENT_CODE.test(code) : code !== REFUND_CODE) return null
  const id = idOf(textIn(info, 'transaction_id'))
  if (id === undefined) throw unavailable('an entry has no transaction_id', false)
  const told = moneyOf(info, 'transaction_amount')
  // A payment below zero is one that we made to somebody else, a refund above zero one that we got.
  if (told !== null && told.amount_minor !== 0n && told.amount_minor > 0n !== (kind === 'payments'))
    return null
  const money = told && {
    ...told,
    amount_minor: told.amount_minor < 0n ? -told.amount_minor : told.amount_minor,
  }
  const payment = kind === 'payments' ? id : refundedPayment(info)
  return {
    kind,
    id,
    payment: payment ?? null,
    amount_minor: money?.amount_minor ?? null,
    currency: money?.currency ?? null,
    status: textIn(info, 'transaction_status') ?? '',
    at: timeIn(info, 'transaction_initiation_date') ?? null,
    facts:
      money === null || payment === undefined
        ? []
        : kind === 'payments'
          ? paymentFacts(setup, id, info, money)
          : refundFacts(setup, payment, id, info, money),
  }
}

/** The refunded payment, where the entry refers to a transaction. */
function refundedPayment(info: unknown): string | undefined {
  return textIn(info, 'paypal_reference_id_type') === 'TXN'
    ? idOf(textIn(info, 'paypal_reference_id'))
    : undefined
}

function paymentFacts(setup: PaypalSetup, id: string, info: unknown, money: PaypalMoney): readonly Fact[] {
  const milestones = { S: 'succeeded', V: 'succeeded', P: 'pending', D: 'failed' } as const
  const milestone = milestones[textIn(info, 'transaction_status') as keyof typeof milestones]
  if (milestone === undefined) return []
  // A charge of a subscription carries that one's reference each time.
  const recurring = textIn(info, 'paypal_reference_id_type') === 'SUB'
  const order = orderReference(
    setup.orderReference,
    fieldIn(info, 'invoice_id'),
    fieldIn(info, 'custom_field'),
  )
  return [
    paymentMilestone(paymentSubject(setup.account, id), {
      milestone,
      // Kept apart from what the capture itself tells, since the two times may differ by seconds.
      attempt: id,
      ...money,
      order: recurring ? undefined : order,
      moved_at: milestone === 'succeeded' ? timeIn(info, 'transaction_initiation_date') : undefined,
    }),
  ]
}

function refundFacts(
  setup: PaypalSetup,
  payment: string,
  refund: string,
  info: unknown,
  money: PaypalMoney,
): readonly Fact[] {
  const milestones = { S: 'succeeded', P: 'pending', D: 'failed' } as const
  const milestone = milestones[textIn(info, 'transaction_status') as keyof typeof milestones]
  if (milestone === undefined) return []
  return [refundMilestone(paymentSubject(setup.account, payment), { refund, milestone, ...money })]
}

async function* listDisputes(
  setup: PaypalSetup,
  api: PaypalApi,
  { from_ms, to_ms }: Window,
  context: LookupContext,
): AsyncIterable<readonly ListedItem[]> {
  const query = new URLSearchParams({
    update_time_after: new Date(from_ms).toISOString(),
    update_time_before: new Date(to_ms).toISOString(),
    page_size: '50',
  })
  let path: string | undefined = `/v1/customer/disputes?${query}`
  const asked = new Set<string>()
  while (path !== undefined) {
    if (asked.has(path)) throw unavailable('a page leads back to one before', false)
    asked.add(path)
    const body: unknown = bodyOf(await api.get(path, context))
    const items: ListedItem[] = []
    for (const entry of listed(body, 'items')) {
      const id = idOf(textIn(entry, 'dispute_id'))
      // The list leaves out which payment is disputed and how it ended.
      if (id !== undefined)
        items.push(disputeItem(setup, id, bodyOf(await api.get(`/v1/customer/disputes/${id}`, context))))
    }
    yield items
    path = nextPage(body)
  }
}

function disputeItem(setup: PaypalSetup, id: string, dispute: unknown): ListedItem {
  const money = moneyOf(dispute, 'dispute_amount')
  const facts = disputeFacts(setup, dispute)
  const transaction = listIn(dispute, 'disputed_transactions')[0]
  return {
    kind: 'disputes',
    id,
    payment: idOf(textIn(transaction, 'seller_transaction_id')) ?? null,
    amount_minor: money?.amount_minor ?? null,
    currency: money?.currency ?? null,
    status: textIn(dispute, 'status') ?? '',
    at: timeIn(dispute, 'create_time') ?? null,
    facts,
  }
}

/** None for a dispute that cannot be read; it is listed all the same. */
function disputeFacts(setup: PaypalSetup, dispute: unknown): readonly Fact[] {
  try {
    return readDispute(setup, dispute).facts
  } catch {
    return []
  }
}

/** Null where there is no exact amount. */
function moneyOf(object: unknown, field: string): PaypalMoney | null {
  try {
    const [value, currency] = [textIn(object, field, 'value'), textIn(object, field, 'currency_code')]
    return readMoney(value, currency, field, { negative: true })
  } catch {
    return null
  }
}

/** The path of the link `next`; the host is ours to choose. */
function nextPage(body: unknown): string | undefined {
  const next = listIn(body, 'links').find((link) => textIn(link, 'rel') === 'next')
  if (next === undefined) return undefined
  const href = fieldIn(next, 'href')
  const url = typeof href === 'string' && URL.canParse(href) ? new URL(href) : null
  if (url?.pathname !== '/v1/customer/disputes') throw unavailable('a page does not lead to the next', false)
  return url.pathname + url.search
}

/** What has no such list is no page: taken for an empty one, it would say that nothing is there. */
function listed(body: unknown, field: string): readonly unknown[] {
  const entries = fieldIn(body, field)
  if (!Array.isArray(entries)) throw unavailable(`an answer has no ${field}`, false)
  return entries
}

function bodyOf(answer: ApiAnswer): unknown {
  if (answer.came === 'answer') return answer.body
  const why =
    'reason' in answer ? answer.reason : answer.came === 'no' ? `${answer.status} ${answer.code}` : '404'
  throw unavailable(why, answer.came === 'unavailable')
}

function unavailable(why: string, retriable: boolean): Fault {
  return new Fault('provider_unavailable', `PayPal's list could not be had (${why}). Read it again later.`, {
    retriable,
  })
}
