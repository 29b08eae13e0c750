import { minorFromStripe, stripeFromMinor } from './amount.ts'
import type { StripeSample } from './sample-object.ts'
import { charge, dispute, failedCharge, failedIntent, intent, refund, session } from './sample-object.ts'

export type FakeObject = Readonly<Record<string, unknown>> & { readonly id: string; readonly created: number }
export type FakeKind =
  | 'payment_intents'
  | 'charges'
  | 'refunds'
  | 'disputes'
  | 'sessions'
  | 'invoices'
  | 'subscriptions'

/** A payment as it stands at the stand-in. */
export interface FakePayment {
  /** `pi_...`; made up when left out. */
  readonly payment?: string
  readonly amount_minor: bigint
  /** Default `USD`. */
  readonly currency?: string
  readonly order?: string
  /** Default `succeeded`. */
  readonly status?: 'succeeded' | 'processing' | 'failed' | 'authorized' | 'requires_action'
  /** True for a Checkout Session that holds the order reference, while the payment itself has none. */
  readonly session?: boolean
}

/** What the stand-in knows, with every former state, so that a read can lag. */
export interface FakeBooks {
  get(kind: FakeKind, id: string, lag_ms?: number): FakeObject | undefined
  /** Newest first, as Stripe lists. */
  all(kind: FakeKind, lag_ms?: number): readonly FakeObject[]
  put(kind: FakeKind, object: FakeObject): FakeObject
  id(prefix: string): string
  now_s(): number
}

export function newFakeBooks(seed: string, now_ms: () => number): FakeBooks {
  const states = new Map<string, { at_ms: number; object: FakeObject }[]>()
  const ids = new Map<FakeKind, string[]>()
  let made = 0
  const get = (kind: FakeKind, id: string, lag_ms = 0) =>
    states.get(`${kind}/${id}`)?.findLast((state) => state.at_ms <= now_ms() - lag_ms)?.object
  return {
    get,
    all: (kind, lag_ms) => {
      const known = (ids.get(kind) ?? []).flatMap((id) => get(kind, id, lag_ms) ?? [])
      return known.reverse().sort((a, b) => b.created - a.created)
    },
    put: (kind, object) => {
      const key = `${kind}/${object.id}`
      if (!states.has(key)) ids.set(kind, [...(ids.get(kind) ?? []), object.id])
      states.set(key, [...(states.get(key) ?? []), { at_ms: now_ms(), object }])
      return object
    },
    id: (prefix) => {
      made += 1
      return `${prefix}_${seed}${made}`
    },
    now_s: () => Math.floor(now_ms() / 1000),
  }
}

/** Enters a payment with its charge and, where there is one, its session. */
export function enterPayment(books: FakeBooks, about: FakePayment): string {
  const payment = about.payment ?? books.id('pi')
  const { amount_minor, currency = 'USD', order, status = 'succeeded' } = about
  const sample = { payment, amount_minor, currency, at_s: books.now_s() }
  const own = order === undefined || about.session === true ? sample : { ...sample, order }
  const units = stripeFromMinor(amount_minor, currency)
  switch (status) {
    case 'succeeded':
      books.put('charges', charge(own, { amount_captured: units }))
      books.put('payment_intents', intent(own, 'succeeded', { amount_received: units }))
      break
    case 'authorized':
      books.put('charges', charge(own, { captured: false }))
      books.put('payment_intents', intent(own, 'requires_capture', { amount_capturable: units }))
      break
    case 'failed':
      books.put('charges', failedCharge(own))
      books.put('payment_intents', failedIntent(own))
      break
    case 'processing':
      books.put('charges', charge(own, { captured: false, paid: false, status: 'pending' }))
      books.put('payment_intents', intent(own, 'processing', {}))
      break
    case 'requires_action':
      books.put('payment_intents', intent(own, 'requires_action', { latest_charge: null }))
  }
  if (about.session === true) {
    const named: StripeSample = order === undefined ? sample : { ...sample, order }
    books.put('sessions', session(named, status === 'succeeded' ? 'paid' : 'unpaid'))
  }
  return payment
}

export interface FakeRefund {
  readonly payment: string
  readonly amount_minor: bigint
  readonly status?: 'pending' | 'succeeded' | 'failed'
  readonly metadata?: Readonly<Record<string, string>>
}

/** Enters a refund; its charge counts it unless it failed. @throws RangeError when the payment has no charge */
export function enterRefund(books: FakeBooks, about: FakeRefund): FakeObject {
  const charged = chargeOf(books, about.payment)
  if (charged === undefined) throw new RangeError(`There is no charge of ${about.payment}.`)
  const currency = String(charged.currency).toUpperCase()
  const status = about.status ?? 'succeeded'
  const sample = {
    payment: about.payment,
    amount_minor: about.amount_minor,
    currency,
    charge: charged.id,
    refund: books.id('re'),
    at_s: books.now_s(),
  }
  if (status !== 'failed') {
    const amount_refunded = Number(charged.amount_refunded) + stripeFromMinor(about.amount_minor, currency)
    books.put('charges', { ...charged, amount_refunded, refunded: amount_refunded === charged.amount })
  }
  return books.put('refunds', { ...refund(sample, status), metadata: about.metadata ?? {} })
}

export interface FakeDispute {
  readonly payment: string
  /** Default: all that was charged. */
  readonly amount_minor?: bigint
}

/** Enters a dispute, with its money taken at once. @throws RangeError when the payment has no charge */
export function enterDispute(books: FakeBooks, about: FakeDispute): string {
  const charged = chargeOf(books, about.payment)
  if (charged === undefined) throw new RangeError(`There is no charge of ${about.payment}.`)
  const currency = String(charged.currency).toUpperCase()
  const amount_minor = about.amount_minor ?? minorFromStripe(charged.amount, currency, 'amount')
  const id = books.id('du')
  const sample = {
    payment: about.payment,
    amount_minor,
    currency,
    charge: charged.id,
    dispute: id,
    at_s: books.now_s(),
  }
  books.put('charges', { ...charged, disputed: true })
  const disputed = dispute(sample, 'needs_response', [-amount_minor])
  const [taken] = disputed.balance_transactions
  books.put('disputes', { ...disputed, balance_transactions: [{ ...taken, created: books.now_s() }] })
  return id
}

/** Decides a dispute; a won one brings its money back. @throws RangeError when there is none */
export function decideDispute(books: FakeBooks, id: string, status: 'won' | 'lost' | 'under_review'): void {
  const disputed = books.get('disputes', id)
  if (disputed === undefined) throw new RangeError(`There is no dispute ${id}.`)
  const movements = disputed.balance_transactions as readonly FakeObject[]
  const back = { ...movements[0]!, id: `txn_${id}_back`, amount: disputed.amount, created: books.now_s() }
  books.put('disputes', {
    ...disputed,
    status,
    balance_transactions: status === 'won' ? [...movements, back] : movements,
  })
}

export function chargeOf(books: FakeBooks, payment: string, lag_ms?: number): FakeObject | undefined {
  const intended = books.get('payment_intents', payment, lag_ms)
  return books.get('charges', String(intended?.latest_charge ?? payment), lag_ms)
}
