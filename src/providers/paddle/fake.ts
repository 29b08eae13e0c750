import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { fieldIn, listIn, textIn } from '../field.ts'
import { FakeStore } from './fake-store.ts'
import {
  idFrom,
  madeAdjustment,
  madeSubscription,
  madeTransaction,
  type TransactionMade,
  uuidFrom,
} from './made-up.ts'

/** What is sold at the stand-in. */
export interface FakeSale
  extends Partial<Pick<TransactionMade, 'order' | 'origin' | 'subscription' | 'tax_minor'>> {
  /** Any word; the same one names the same transaction. */
  readonly seed: string
  readonly amount_minor: bigint
  readonly currency: string
}

/** A stand-in for Paddle's API with money in it. What it does, it tells by events, as Paddle does. */
export interface FakePaddle extends FakeServer {
  /** Opens a checkout; its transaction id. */
  open(sale: FakeSale): string
  /** A card is declined; the transaction stays open. */
  decline(payment: string): void
  /** The buyer pays: `paid`, then `completed`. */
  pay(payment: string): void
  /** A subscription begins with this payment; its id. */
  subscribe(payment: string): string
  /** Paddle decides on a refund that waits. */
  decide(adjustment: string, status: 'approved' | 'rejected'): void
  /** The bank takes the whole payment back; the chargeback's id. */
  chargeBack(payment: string): string
  /** The chargeback was won. */
  winBack(chargeback: string): void
  /** Refunds that wait for a decision. */
  waiting(): readonly string[]
  /** Bodies of all events so far, oldest first. The same event has the same body each time; sign it when sending. */
  events(): readonly string[]
}

/** @param now_ms the clock of its objects; the platform's by default */
export async function startFakePaddle(now_ms: () => number = Date.now): Promise<FakePaddle> {
  const store = new FakeStore(now_ms)
  const server = await startFakeServer((request, faults) => answer(store, request, faults))
  const now_s = () => Math.floor(now_ms() / 1000)
  const sold = new Map<string, Omit<TransactionMade, 'status'>>()
  const attempts = (payment: string) => sold.get(payment)?.attempts ?? []

  const move = (payment: string, status: string, event: string, attempt?: 'captured' | 'error') => {
    const before = sold.get(payment)
    if (before === undefined) throw new RangeError(`the stand-in has no transaction ${payment}`)
    const failed = attempt === 'error' ? { error_code: 'declined' } : {}
    const id = uuidFrom(payment, attempts(payment).length)
    const made = attempt === undefined ? [] : [{ id, status: attempt, at_s: now_s(), ...failed }]
    const after = { ...before, attempts: [...made, ...attempts(payment)] }
    sold.set(payment, after)
    store.put('transaction', madeTransaction({ ...after, status }), event)
  }

  return Object.assign(server, {
    open(sale: FakeSale) {
      const { seed, ...rest } = sale
      const id = idFrom('txn', seed)
      sold.set(id, { ...rest, id, at_s: now_s() })
      move(id, 'ready', 'transaction.created')
      return id
    },
    decline: (payment: string) => move(payment, 'ready', 'transaction.payment_failed', 'error'),
    pay(payment: string) {
      move(payment, 'paid', 'transaction.paid', 'captured')
      move(payment, 'completed', 'transaction.completed')
    },
    subscribe(payment: string) {
      const { amount_minor, currency, order } = sold.get(payment)!
      const id = idFrom('sub', payment)
      const made = { id, payment, amount_minor, currency, order, status: 'active' }
      store.put(
        'subscription',
        madeSubscription({ ...made, at_s: now_s(), ends_s: now_s() + 30 * 86_400 }),
        'subscription.created',
      )
      return id
    },
    decide: (adjustment: string, status: 'approved' | 'rejected') => store.decide(adjustment, status),
    chargeBack: (payment: string) => {
      const { amount_minor, currency, tax_minor } = sold.get(payment)!
      return adjust(store, {
        action: 'chargeback',
        status: 'approved',
        payment,
        amount_minor,
        currency,
        tax_minor,
      })
    },
    winBack(chargeback: string) {
      const before = store.read('adjustment', chargeback)
      const payment = textIn(before, 'transaction_id') ?? ''
      const [amount_minor, tax_minor] = ['total', 'tax'].map((name) =>
        BigInt(textIn(before, 'totals', name) ?? '0'),
      )
      const currency = textIn(before, 'currency_code') ?? ''
      store.decide(chargeback, 'reversed')
      const back = { action: 'chargeback_reverse', status: 'approved', payment, currency }
      adjust(store, { ...back, amount_minor: amount_minor!, tax_minor: tax_minor! })
    },
    events: () => store.events,
    waiting: () =>
      store
        .all('adjustment')
        .filter((entry) => textIn(entry, 'status') === 'pending_approval')
        .map((entry) => textIn(entry, 'id')!),
  })
}

interface Adjusting {
  readonly action: string
  readonly status: string
  readonly payment: string
  readonly amount_minor: bigint
  readonly tax_minor?: bigint | undefined
  readonly currency: string
  readonly reason?: string | undefined
}

/** Ids of adjustments are in the order of time, as at Paddle. */
function adjust(store: FakeStore, adjusting: Adjusting): string {
  const id = `adj_01${String(store.all('adjustment').length + 1).padStart(24, '0')}`
  const at_s = Math.floor(store.now_ms() / 1000)
  store.put(
    'adjustment',
    madeAdjustment({ ...adjusting, id, created_s: at_s, updated_s: at_s }),
    'adjustment.created',
  )
  return id
}

function answer(store: FakeStore, request: FakeRequest, faults: Faults): FakeAnswer {
  if (faults.locked_out || !/^bearer \S/i.test(request.headers.authorization ?? ''))
    return refusal(403, 'forbidden')
  if (faults.list_breaks && request.query.has('after')) return refusal(500, 'internal_error')
  const [, resource = '', id] = request.path.split('/')
  const kind = resource.replace(/s$/, '')
  const at_ms = store.now_ms() - faults.lag_ms
  if (request.method === 'POST' && request.path === '/adjustments') return refund(store, request)
  if (request.method !== 'GET' || !KINDS.includes(kind)) return refusal(404, 'not_found')
  if (id === undefined && kind !== 'subscription') return list(store.all(kind, at_ms), kind, request)
  const found = store.read(kind, id ?? '', at_ms)
  // There is no address of a single adjustment.
  if (found === undefined || kind === 'adjustment') return refusal(404, 'not_found')
  const data = kind === 'transaction' ? included(store, found, request, at_ms) : found
  return { status: 200, body: { data, meta: META } }
}

const KINDS = ['transaction', 'adjustment', 'subscription']
const META = { request_id: '00000000-0000-4000-8000-000000000000' }

function refusal(status: number, code: string): FakeAnswer {
  const type = status < 500 ? 'request_error' : 'api_error'
  const error = { type, code, detail: code, documentation_url: `https://paddle.example/errors/${code}` }
  return { status, body: { error, meta: META } }
}

function included(store: FakeStore, transaction: object, { query }: FakeRequest, at_ms: number): object {
  const include = (query.get('include') ?? '').split(',')
  const adjustments = store
    .all('adjustment', at_ms)
    .filter((entry) => textIn(entry, 'transaction_id') === textIn(transaction, 'id'))
  return {
    ...transaction,
    ...(include.includes('adjustment') ? { adjustments } : {}),
    ...(include.includes('adjustments_totals')
      ? { adjustments_totals: totalsOf(transaction, adjustments) }
      : {}),
  }
}

function totalsOf(transaction: object, adjustments: readonly object[]): object {
  const sum = (action: string) =>
    adjustments
      .filter((entry) => textIn(entry, 'action') === action && textIn(entry, 'status') === 'approved')
      .reduce((total, entry) => total + BigInt(textIn(entry, 'totals', 'total') ?? '0'), 0n)
  const [refund, chargeback, credit] = ['refund', 'chargeback', 'credit'].map(sum)
  const total = String(refund! + chargeback! + credit!)
  return {
    subtotal: total,
    tax: '0',
    total,
    fee: '0',
    earnings: total,
    breakdown: { credit: String(credit), refund: String(refund), chargeback: String(chargeback) },
    currency_code: textIn(transaction, 'currency_code'),
  }
}

const PAGE: Readonly<Record<string, { readonly usual: number; readonly most: number }>> = {
  transaction: { usual: 30, most: 30 },
  adjustment: { usual: 10, most: 50 },
}

function list(objects: readonly object[], kind: string, request: FakeRequest): FakeAnswer {
  const { query } = request
  const { usual, most } = PAGE[kind]!
  const per_page = Number(query.get('per_page') ?? usual)
  if (!Number.isSafeInteger(per_page) || per_page < 1 || per_page > most) return refusal(400, 'invalid_field')
  const idOf = (entry: object) => textIn(entry, 'id') ?? ''
  const falling = query.get('order_by') !== 'id[ASC]'
  const sorted = objects
    .filter((entry) => matches(entry, query))
    .sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1) * (falling ? -1 : 1))
  const after = query.get('after')
  const from = after === null ? 0 : sorted.findIndex((entry) => idOf(entry) === after) + 1
  const data = sorted.slice(from, from + per_page)
  const has_more = from + per_page < sorted.length
  const next = new URLSearchParams(query)
  next.set('after', data.length > 0 ? idOf(data.at(-1)!) : (after ?? ''))
  const address = `http://${request.headers.host}${request.path}?${next}`
  const pagination = { per_page, next: address, has_more, estimated_total: sorted.length }
  return { status: 200, body: { data, meta: { ...META, pagination } } }
}

function matches(entry: object, query: URLSearchParams): boolean {
  const among = (name: string) => {
    const wanted = query.get(name)
    return wanted === null || wanted.split(',').includes(textIn(entry, name) ?? '')
  }
  const since = query.get('updated_at[GTE]')
  const late = since === null || Date.parse(textIn(entry, 'updated_at') ?? '') >= Date.parse(since)
  return late && ['id', 'status', 'action', 'transaction_id', 'subscription_id'].every(among)
}

/** Refunds as Paddle makes them: completed transactions only, one waiting at a time, never more than is left. */
function refund(store: FakeStore, request: FakeRequest): FakeAnswer {
  const asked: unknown = JSON.parse(request.body.toString('utf8'))
  const payment = textIn(asked, 'transaction_id') ?? ''
  const transaction = store.read('transaction', payment)
  if (transaction === undefined) return refusal(404, 'not_found')
  if (textIn(transaction, 'status') !== 'completed' || textIn(asked, 'action') !== 'refund')
    return refusal(400, 'bad_request')
  const earlier = store.all('adjustment').filter((entry) => textIn(entry, 'transaction_id') === payment)
  if (earlier.some((entry) => textIn(entry, 'status') === 'pending_approval'))
    return refusal(400, 'adjustment_pending_refund_request')
  const total = BigInt(textIn(transaction, 'details', 'totals', 'total')!)
  const tax = BigInt(textIn(transaction, 'details', 'totals', 'tax')!)
  const gone = earlier
    .filter((entry) => ['approved'].includes(textIn(entry, 'status') ?? ''))
    .reduce((sum, entry) => sum + BigInt(textIn(entry, 'totals', 'total')!), 0n)
  const amount_minor = amountOf(asked, total, tax)
  if (amount_minor === null) return refusal(400, 'invalid_field')
  if (amount_minor > total - gone) return refusal(400, 'adjustment_amount_above_remaining_allowed')
  const id = adjust(store, {
    action: 'refund',
    status: 'pending_approval',
    payment,
    amount_minor,
    tax_minor: total === 0n ? 0n : (amount_minor * tax) / total,
    currency: textIn(transaction, 'currency_code')!,
    reason: String(fieldIn(asked, 'reason')),
  })
  return { status: 201, body: { data: store.read('adjustment', id)!, meta: META } }
}

/** The sum of its items with tax; null when they are none that Paddle would take. */
function amountOf(asked: unknown, total: bigint, tax: bigint): bigint | null {
  if (textIn(asked, 'type') === 'full') return total
  const items = listIn(asked, 'items')
  if (items.length === 0) return null
  let sum = 0n
  for (const item of items) {
    if (textIn(item, 'type') === 'full') sum += total
    else {
      const amount = textIn(item, 'amount')
      if (amount === undefined || !/^[0-9]+$/.test(amount)) return null
      sum +=
        textIn(asked, 'tax_mode') === 'external' ? (BigInt(amount) * total) / (total - tax) : BigInt(amount)
    }
  }
  return sum
}
