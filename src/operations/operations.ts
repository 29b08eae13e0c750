import { Fault } from '../facts/fault.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { cleanText } from '../providers/field.ts'
import { parametersDigest } from '../rules/operation-key.ts'
import { type Look, lookBeforeCharge, lookBeforeRefund, refundable } from '../rules/operation-look.ts'
import type { OperationKind, OperationState } from '../rules/operation-state.ts'
import type { Database, Transaction } from '../store/database.ts'
import { lostRace } from '../store/driver-fault.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { findOperation, listOperationNotes, listOperationRequests } from '../store/queries/find-operation.ts'
import { insertOperation, type NewOperation } from '../store/queries/insert-operation.ts'
import { listOperations } from '../store/queries/list-operations.ts'
import { loadOperationsOfOrder } from '../store/queries/load-operation-rivals.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import { lookAtOrder, lookAtPayment } from './last-look.ts'
import { asOperation, type Operation, type OperationStory } from './operation.ts'
import type { OperationWorker } from './operation-worker.ts'
import {
  type AbandonRequest,
  type ConfirmRequest,
  People,
  type ResolveRequest,
  type RetryRequest,
} from './people.ts'

export interface RefundOrder {
  /**
   * Our own stable name of this refund, for ever unique within the tenant: `refund/A-17/1`. The same key again asks for
   * nothing new; with anything else but the same parameters it is refused.
   */
  readonly key: string
  /** The payment: `namespace/account/id` as `paidonce orders show` has it, or its id where the endpoint is clear. */
  readonly payment: string
  /** Endpoint whose credentials are used. Default: the one whose provider holds the payment. */
  readonly endpoint?: string | undefined
  /** Minor units. Default: all that can be given back. */
  readonly amount_minor?: bigint | undefined
  /** Has to be the payment's. */
  readonly currency?: string | undefined
  /** A code that the provider takes, or plain words without personal data. */
  readonly reason?: string | undefined
  /** Refund although a dispute about the payment is open. */
  readonly despite_dispute?: boolean | undefined
  /** Who or what asks for it; for those who look later. */
  readonly asked_by?: string | undefined
  /** Default: the endpoint's. */
  readonly tenant?: string | undefined
}

export interface ChargeOrder {
  /** As for a refund: `charge/A-17`. */
  readonly key: string
  /** Our order reference; its terms say what is owed. */
  readonly order: string
  readonly endpoint: string
  /** The provider's id of the customer. */
  readonly customer: string
  /** The provider's id of the stored means of payment; on Dodo Payments the subscription. */
  readonly method?: string | undefined
  /** Minor units. Default: all that is owed. */
  readonly amount_minor?: bigint | undefined
  /** Has to be the order's. */
  readonly currency?: string | undefined
  readonly asked_by?: string | undefined
}

export interface OperationQuery {
  readonly tenant?: string | undefined
  readonly states?: readonly OperationState[] | undefined
  readonly kind?: OperationKind | undefined
  /** The provider's payment id. */
  readonly payment?: string | undefined
  readonly order?: string | undefined
  /** Default 100. */
  readonly limit?: number | undefined
}

/** What `performNow` waits for at most, milliseconds. */
const WAIT_MS = 30_000
/** Longest key, characters. */
export const KEY_MAX = 200

/** Charges and refunds that we ask providers for: each at most once per key, whatever crashes and whatever answer is lost. */
export class Operations {
  readonly #database: Database
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #worker: OperationWorker
  readonly #people: People
  readonly #tenant: string
  readonly #bucketOf: (tenant: string) => number
  readonly #buckets: number
  readonly #now_ms: () => number

  constructor(
    database: Database,
    endpoints: ReadonlyMap<string, Endpoint>,
    worker: OperationWorker,
    tenant: string,
    bucketOf: (tenant: string) => number,
    buckets: number,
    now_ms: () => number,
  ) {
    this.#database = database
    this.#endpoints = endpoints
    this.#worker = worker
    this.#people = new People(database, endpoints, now_ms)
    this.#tenant = tenant
    this.#bucketOf = bucketOf
    this.#buckets = buckets
    this.#now_ms = now_ms
  }

  /**
   * Plans a refund: row, key and the reservation of its amount are committed before this resolves; a worker sends it
   * (`startWork`), or `performNow`. Asked for again with the same key it gives what there is.
   * @throws Fault `operation_invalid`, `operation_conflict` (the key is taken by something else), `operation_refused` (not
   *   that much can be given back, a dispute is open, the payment is not known well enough), `not_found`,
   *   `lookup_unsupported` (the provider takes no refunds here)
   */
  async refund(request: RefundOrder): Promise<Operation> {
    const key = checkedKey(request.key)
    const { endpoint, payment } = this.#paymentOf(request)
    const { tenant, bucket } = endpoint
    const { namespace, account } = endpoint.provider
    checkedAmount(request.amount_minor)
    const make = (amount_minor: bigint, currency: string): NewOperation => ({
      ...commonOf(endpoint, key, 'refund', amount_minor, currency),
      params_digest: parametersDigest({
        kind: 'refund',
        namespace,
        account,
        payment,
        order: '',
        amount_minor,
        currency,
        reason: request.reason,
      }),
      provider_payment_id: payment,
      order_ref: '',
      confirmed: request.despite_dispute === true,
      params: { reason: request.reason, asked_by: request.asked_by },
    })
    return this.#create(bucket, { tenant, operation_key: key }, request, make, async (tx) => {
      const known = await lookAtPayment(
        tx,
        bucket,
        { tenant, namespace, account, provider_payment_id: payment },
        null,
      )
      if (known.payment === null) {
        throw new Fault(
          'not_found',
          `Nothing is known of payment ${payment}. Look it up first: \`paidonce lookup ${endpoint.name} payment ${payment}\`.`,
        )
      }
      const amount_minor = request.amount_minor ?? refundable(known) ?? 0n
      const currency = request.currency ?? known.payment.currency ?? ''
      if (amount_minor === 0n)
        return {
          amount_minor,
          currency,
          look: { go: 'drop', code: 'not_refundable', reason: 'nothing is left to give back' },
        }
      const confirmed = request.despite_dispute === true
      return {
        amount_minor,
        currency,
        look: lookBeforeRefund({ ...known, amount_minor, currency, confirmed }),
      }
    })
  }

  /**
   * Plans a charge of a stored means of payment for an order. Two causes that ask under one key make one charge; a second
   * charge of the order is refused while one is unresolved, under whatever key.
   * @throws Fault as `refund`
   */
  async charge(request: ChargeOrder): Promise<Operation> {
    const key = checkedKey(request.key)
    const endpoint = this.#able(request.endpoint, 'charge')
    const { tenant, bucket } = endpoint
    const { namespace, account } = endpoint.provider
    const { order, customer, method, asked_by } = request
    if (cleanText(order) === undefined) throw invalid('The order reference is blank or unusable.')
    if (cleanText(customer) === undefined) throw invalid("Name the customer by the provider's id.")
    checkedAmount(request.amount_minor)
    const make = (amount_minor: bigint, currency: string): NewOperation => ({
      ...commonOf(endpoint, key, 'charge', amount_minor, currency),
      params_digest: parametersDigest({
        kind: 'charge',
        namespace,
        account,
        payment: '',
        order,
        amount_minor,
        currency,
        customer,
        method,
      }),
      provider_payment_id: '',
      order_ref: order,
      confirmed: false,
      params: { customer, method, asked_by },
    })
    return this.#create(bucket, { tenant, operation_key: key }, request, make, async (tx) => {
      const known = await lookAtOrder(tx, bucket, { tenant, reference: order }, null)
      if (known.order === null) throw new Fault('not_found', `There is no order ${order}. Register it first.`)
      const amount_minor = request.amount_minor ?? known.order.due_minor - known.order.net_minor
      const currency = request.currency ?? known.order.currency ?? ''
      return { amount_minor, currency, look: lookBeforeCharge({ ...known, amount_minor, currency }) }
    })
  }

  /** One operation with everything that was sent and said. @throws Fault `not_found` */
  async show(key: string, tenant: string = this.#tenant): Promise<OperationStory> {
    const bucket = this.#bucketOf(tenant)
    const row = await this.#known(bucket, tenant, key)
    const [requests, notes] = await Promise.all([
      listOperationRequests(this.#database, bucket, row.id),
      listOperationNotes(this.#database, bucket, row.id),
    ])
    return { ...asOperation(row), requests, notes }
  }

  /** Operations, newest first. */
  async list(query: OperationQuery = {}): Promise<Operation[]> {
    const limit = query.limit ?? 100
    const rows: OperationRow[] = []
    const buckets =
      query.tenant === undefined
        ? Array.from({ length: this.#buckets }, (_, bucket) => bucket)
        : [this.#bucketOf(query.tenant)]
    for (const bucket of buckets)
      rows.push(...(await listOperations(this.#database, bucket, { ...query, limit })))
    return rows
      .sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
      .slice(0, limit)
      .map(asOperation)
  }

  /**
   * Sends a planned operation now instead of waiting for the worker, and gives what it has come to within `limit_ms`
   * (default 30,000); it goes on all the same.
   */
  async performNow(
    key: string,
    tenant: string = this.#tenant,
    limit_ms: number = WAIT_MS,
  ): Promise<Operation> {
    const bucket = this.#bucketOf(tenant)
    const row = await this.#known(bucket, tenant, key)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limit_ms)
    })
    await Promise.race([this.#worker.performNow(bucket, row.id), late])
    clearTimeout(timer)
    return asOperation(await this.#known(bucket, tenant, key))
  }

  /**
   * A person has found out what became of an operation that nobody knew about.
   * @throws Fault `operation_refused` when it is not unknown, `operation_invalid`, `not_found`
   */
  resolve(request: ResolveRequest): Promise<Operation> {
    return this.#said(request, (bucket, row) => this.#people.resolve(bucket, row, request))
  }

  /** Sends a refused operation again under a new key at the provider, or looks again at one that waits. */
  retry(request: RetryRequest): Promise<Operation> {
    return this.#said(request, (bucket, row) => this.#people.retry(bucket, row, request))
  }

  /** A person says that a refund that waits is meant, although a dispute is open. */
  confirm(request: ConfirmRequest): Promise<Operation> {
    return this.#said(request, (bucket, row) => this.#people.confirm(bucket, row, request))
  }

  /**
   * Gives an operation up. Of an unknown refund the amount stays reserved, since it may have gone out.
   * @throws Fault `operation_refused` when it is over already or is being sent
   */
  abandon(request: AbandonRequest): Promise<Operation> {
    return this.#said(request, (bucket, row) => this.#people.abandon(bucket, row, request))
  }

  async #said(
    request: { readonly key: string; readonly tenant?: string | undefined },
    say: (bucket: number, row: OperationRow) => Promise<void>,
  ): Promise<Operation> {
    const tenant = request.tenant ?? this.#tenant
    const bucket = this.#bucketOf(tenant)
    await say(bucket, await this.#known(bucket, tenant, request.key))
    return asOperation(await this.#known(bucket, tenant, request.key))
  }

  /** Under the lock of what it is about, so that two never promise the same money. */
  async #create(
    bucket: number,
    key: { readonly tenant: string; readonly operation_key: string },
    wanted: { readonly amount_minor?: bigint | undefined; readonly currency?: string | undefined },
    make: (amount_minor: bigint, currency: string) => NewOperation,
    look: (tx: Transaction) => Promise<{ amount_minor: bigint; currency: string; look: Look }>,
  ): Promise<Operation> {
    const same = (row: OperationRow): Operation => {
      const amount_minor = wanted.amount_minor ?? BigInt(row.amount_minor)
      const asked = make(amount_minor, wanted.currency ?? row.currency)
      if (row.params_digest.equals(asked.params_digest)) return asOperation(row)
      throw new Fault(
        'operation_conflict',
        `Operation ${key.operation_key} exists and asks for something else. Use another key for another charge or refund.`,
      )
    }
    const known = await findOperation(this.#database, bucket, key)
    if (known) return same(known)
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await inTransaction(this.#database, async (tx) => {
          const { amount_minor, currency, look: found } = await look(tx)
          // Asked for at the same time: whoever came first is seen now, under the lock.
          const first = await findOperation(tx, bucket, key)
          if (first) return same(first)
          if (found.go === 'hold' || found.go === 'drop') throw refused(found)
          const planned = make(amount_minor, currency)
          const row = await insertOperation(tx, bucket, new Date(this.#now_ms()), planned)
          if (row) return asOperation(row)
          const other = await findOperation(tx, bucket, key)
          if (other) return same(other)
          const [open] = await loadOperationsOfOrder(tx, bucket, {
            tenant: key.tenant,
            reference: planned.order_ref,
          })
          throw new Fault(
            'operation_refused',
            `Another charge of order ${planned.order_ref} is not resolved yet (${open?.operation_key ?? 'just asked for'}). \`paidonce operations list --order ${planned.order_ref}\` shows it.`,
          )
        })
      } catch (error) {
        if (attempt >= 3 || !lostRace(error)) throw error
      }
    }
  }

  async #known(bucket: number, tenant: string, key: string): Promise<OperationRow> {
    const row = await findOperation(this.#database, bucket, { tenant, operation_key: key })
    if (row) return row
    throw new Fault('not_found', `There is no operation ${key}. \`paidonce operations list\` shows all.`)
  }

  #paymentOf(request: RefundOrder): { endpoint: Endpoint; payment: string } {
    const [namespace, account, ...rest] = request.payment.split('/')
    const full = rest.length > 0
    const payment = full ? rest.join('/') : request.payment
    if (cleanText(payment) === undefined) throw invalid('Name the payment.')
    if (request.endpoint !== undefined) {
      const endpoint = this.#able(request.endpoint, 'refund')
      const { provider } = endpoint
      if (full && (provider.namespace !== namespace || provider.account !== account))
        throw invalid(`Endpoint ${endpoint.name} is not of ${namespace}/${account}, which has the payment.`)
      return { endpoint, payment }
    }
    const able = [...this.#endpoints.values()].filter(
      ({ provider, tenant }) =>
        provider.lookup?.refund !== undefined &&
        provider.capabilities.idempotency.refund !== null &&
        (request.tenant === undefined || tenant === request.tenant) &&
        (!full || (provider.namespace === namespace && provider.account === account)),
    )
    const holders = new Set(
      able.map(({ provider, tenant }) => `${tenant}/${provider.namespace}/${provider.account}`),
    )
    if (holders.size === 1) return { endpoint: able[0]!, payment }
    if (holders.size === 0)
      throw new Fault(
        'lookup_unsupported',
        'No configured endpoint can refund this payment. Give its provider API credentials, or refund it in its dashboard.',
      )
    throw invalid(
      'Several endpoints could have this payment. Name the endpoint, or the payment as namespace/account/id.',
    )
  }

  #able(name: string, kind: OperationKind): Endpoint {
    const endpoint = this.#endpoints.get(name)
    if (!endpoint) {
      throw new Fault(
        'not_found',
        `No endpoint ${name} is configured. Add it to \`endpoints\`, or correct the name.`,
      )
    }
    if (endpoint.provider.lookup?.[kind] && endpoint.provider.capabilities.idempotency[kind]) return endpoint
    throw new Fault(
      'lookup_unsupported',
      `Endpoint ${name} cannot ask ${endpoint.provider.provider} for a ${kind}: no API credentials are configured, or it has no such call. See its page under docs/providers/.`,
    )
  }
}

function commonOf(
  { name, tenant, provider }: Endpoint,
  operation_key: string,
  kind: OperationKind,
  amount_minor: bigint,
  currency: string,
) {
  const { namespace, account } = provider
  return { tenant, operation_key, kind, endpoint: name, namespace, account, amount_minor, currency }
}

function checkedKey(key: string): string {
  if (cleanText(key) !== undefined && key.length <= KEY_MAX) return key
  throw invalid(`The operation's key must have 1 to ${KEY_MAX} characters and no blanks around it.`)
}

function checkedAmount(amount_minor: bigint | undefined): void {
  if (amount_minor === undefined || (typeof amount_minor === 'bigint' && amount_minor > 0n)) return
  throw invalid('amount_minor is a bigint above 0, in minor units of the currency.')
}

function invalid(message: string): Fault {
  return new Fault('operation_invalid', message)
}

function refused({ code, reason }: { readonly code: string; readonly reason: string }): Fault {
  const more =
    code === 'dispute_open'
      ? ' Confirm it (`despite_dispute`, `--despite-dispute`) if it is meant all the same.'
      : ''
  return new Fault('operation_refused', `Nothing was asked for: ${reason} (${code}).${more}`)
}
