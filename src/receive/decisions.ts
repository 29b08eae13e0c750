import { type Decision, type DecisionKind, decision } from '../facts/decision.ts'
import { Fault } from '../facts/fault.ts'
import type { OrderSubject, PaymentSubject } from '../facts/subject.ts'
import { cleanText, utcTime } from '../providers/field.ts'
import { orderBasis } from '../rules/basis.ts'
import { deriveOrderBook } from '../rules/derive-order-book.ts'
import type { OrderBook } from '../rules/order-state.ts'
import { readStoredBook } from '../rules/stored-book.ts'
import { settleItem } from '../settle/item.ts'
import { summarizeRow } from '../settle/orders.ts'
import type { Database } from '../store/database.ts'
import { findPayment } from '../store/queries/find-payment.ts'
import { findOrdersByReference } from '../store/queries/list-orders.ts'
import { loadPayments } from '../store/queries/load-payments.ts'
import type { PaymentRow } from '../store/queries/payment-row.ts'
import { readSnapshot } from '../store/snapshot.ts'
import type { Batcher } from './batcher.ts'

/** What a person decides about an order, or about a payment for it. */
export interface DecisionRequest {
  /** The order; for `assign_order` the one that the payment counts for from now on. */
  readonly order: string
  readonly decision: DecisionKind
  /** Who decides: a name that others understand. */
  readonly actor: string
  /** Why, in words that others understand later. */
  readonly reason: string
  /** For decisions about one payment: `namespace/account/id`, or the id alone for a payment of the order. */
  readonly payment?: string | undefined
  /** For `write_off`: how much, minor units of the order's currency. */
  readonly amount_minor?: bigint | undefined
  /** For `keep_access`: until when, ISO 8601 with a zone; left out for ever. */
  readonly until?: string | undefined
  /** For `withdraw`: id of the decision that is taken back. */
  readonly withdraws?: string | undefined
  /** Stands whatever comes later, without asking again. */
  readonly firm?: boolean | undefined
  /** The digest that was shown to the person; refused when the facts have changed since. Default: what holds now. */
  readonly based_on?: string | undefined
  /** Default: the tenant of the installation. */
  readonly tenant?: string | undefined
}

interface Outlook {
  readonly book: OrderBook
  readonly payments: readonly PaymentRow[]
  readonly basis: string
}

const ABOUT_A_PAYMENT: ReadonlySet<DecisionKind> = new Set([
  'accept_payment',
  'treat_as_surplus',
  'assign_order',
])

/** Takes down what people decide. Everything goes through settling, so what follows from it happens at once. */
export class Decisions {
  readonly #database: Database
  readonly #batcher: Batcher
  readonly #tenant: string
  readonly #bucketOf: (tenant: string) => number
  readonly #now_ms: () => number
  readonly #newId: () => string

  constructor(
    database: Database,
    batcher: Batcher,
    tenant: string,
    bucketOf: (tenant: string) => number,
    now_ms: () => number,
    newId: () => string,
  ) {
    this.#database = database
    this.#batcher = batcher
    this.#tenant = tenant
    this.#bucketOf = bucketOf
    this.#now_ms = now_ms
    this.#newId = newId
  }

  /**
   * Takes a decision down and settles what follows.
   * Throws Fault `decision_invalid` (it makes no sense), `decision_outdated` (the facts have changed since `based_on`),
   * `not_found` (no such order, payment or decision).
   */
  async make(request: DecisionRequest): Promise<Decision> {
    const tenant = request.tenant ?? this.#tenant
    const bucket = this.#bucketOf(tenant)
    const outlook = await readSnapshot(this.#database, (db) => lookAt(db, bucket, tenant, request.order))
    if (request.based_on !== undefined && request.based_on !== outlook.basis) {
      throw new Fault(
        'decision_outdated',
        `What is known of order ${request.order} has changed since it was shown. Look again, then decide.`,
      )
    }
    const { subject, content } = await this.#checked(request, tenant, bucket, outlook)
    const result = await this.#batcher.submit(
      bucket,
      settleItem({
        tenant,
        source: { kind: 'decision', id: 0n, version: 1 },
        facts: [decision(subject, content)],
      }),
    )
    if ('fault' in result) throw result.fault
    return content
  }

  async #checked(
    request: DecisionRequest,
    tenant: string,
    bucket: number,
    outlook: Outlook,
  ): Promise<{ subject: OrderSubject | PaymentSubject; content: Decision }> {
    const { order, decision: kind } = request
    const common = {
      id: this.#newId(),
      decision: kind,
      actor: worded(request.actor, 'actor'),
      reason: worded(request.reason, 'reason'),
      at: new Date(this.#now_ms()).toISOString(),
      based_on: outlook.basis,
      firm: request.firm === true ? true : undefined,
    }
    const subject = { kind: 'order', reference: order } as const
    if (ABOUT_A_PAYMENT.has(kind)) {
      const payment = await this.#payment(request, tenant, bucket, outlook)
      if (kind === 'assign_order') return { subject: payment, content: { ...common, order } }
      return { subject, content: { ...common, payment: payment.id, account: payment.account } }
    }
    switch (kind) {
      case 'write_off':
        return { subject, content: { ...common, ...writtenOff(request, outlook) } }
      case 'keep_access': {
        const until = request.until === undefined ? undefined : utcTime(request.until)
        if (until === null) throw invalid('`until` is no ISO 8601 time with a zone.')
        return { subject, content: { ...common, until } }
      }
      case 'withdraw': {
        const known = outlook.book.decisions.some((one) => one.id === request.withdraws)
        if (!known) throw notFound(`Order ${order} has no standing decision ${request.withdraws ?? ''}.`)
        return { subject, content: { ...common, supersedes: request.withdraws } }
      }
      default:
        return { subject, content: common }
    }
  }

  async #payment(
    { payment, order }: DecisionRequest,
    tenant: string,
    bucket: number,
    { payments }: Outlook,
  ): Promise<PaymentSubject> {
    if (payment === undefined) throw invalid('Name the payment.')
    const own = payments.filter((row) => row.provider_payment_id === payment)
    if (own.length === 1) return asSubject(own[0]!)
    const [namespace, account, ...rest] = payment.split('/')
    const id = rest.join('/')
    if (!namespace || !account || id === '') {
      throw notFound(
        `Order ${order} has no payment ${payment}. Name another payment as namespace/account/id, such as stripe/default/pi_1.`,
      )
    }
    const key = { tenant, namespace, account, provider_payment_id: id }
    if (!(await findPayment(this.#database, bucket, key)))
      throw notFound(`Nothing is known of payment ${payment}.`)
    return { kind: 'payment', namespace, account, id }
  }
}

/** What is known of an order now, as a decision rests on it. */
export async function lookAt(
  db: Parameters<typeof findOrdersByReference>[0],
  bucket: number,
  tenant: string,
  reference: string,
): Promise<Outlook> {
  const [row] = await findOrdersByReference(db, bucket, [{ tenant, reference }])
  if (!row) throw notFound(`Nothing is known of order ${reference}. Register it first.`)
  const payments = row.payment_ids.length > 0 ? await loadPayments(db, bucket, [...row.payment_ids]) : []
  const book = row.book === null ? deriveOrderBook([]) : readStoredBook(row.book)
  return { book, payments, basis: orderBasis(book, payments.map(summarizeRow)) }
}

function writtenOff({ amount_minor }: DecisionRequest, { book }: Outlook) {
  if (book.terms === null) throw invalid('The order has no terms, so there is nothing to write off.')
  if (typeof amount_minor !== 'bigint' || amount_minor <= 0n || amount_minor > book.terms.amount_minor) {
    throw invalid('Say how much is written off: a bigint of minor units, at most what the order asks for.')
  }
  return { amount_minor, currency: book.terms.currency }
}

function asSubject({ namespace, account, provider_payment_id }: PaymentRow): PaymentSubject {
  return { kind: 'payment', namespace, account, id: provider_payment_id }
}

function worded(text: string, what: string): string {
  const clean = cleanText(text)
  if (clean !== undefined) return clean
  throw invalid(`Give \`${what}\`: 1 to 255 characters, no control characters.`)
}

function invalid(message: string): Fault {
  return new Fault('decision_invalid', message)
}

function notFound(message: string): Fault {
  return new Fault('not_found', message)
}
