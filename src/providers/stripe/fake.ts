import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { minorFromStripe } from './amount.ts'
import type { FakeBooks, FakeDispute, FakeKind, FakeObject, FakePayment, FakeRefund } from './fake-books.ts'
import {
  chargeOf,
  decideDispute,
  enterDispute,
  enterPayment,
  enterRefund,
  newFakeBooks,
} from './fake-books.ts'
import { envelope } from './sample.ts'

export type { FakeDispute, FakeObject, FakePayment, FakeRefund } from './fake-books.ts'

/** A stand-in for Stripe's API, as the official SDK calls it. Point `apiUrl` at its `url`; any test key will do. */
export interface StripeFake extends FakeServer {
  /** A buyer pays, or tries to. Gives the payment id. */
  pay(payment: FakePayment): string
  /** A refund that is made in the dashboard. Gives the refund id. */
  giveBack(refund: FakeRefund): string
  /** A buyer disputes a payment. Gives the dispute id. */
  dispute(dispute: FakeDispute): string
  decide(dispute: string, status: 'won' | 'lost' | 'under_review'): void
  /** Enters or replaces any other object as the API gives it. */
  put(kind: 'invoices' | 'subscriptions', object: FakeObject): void
  /** What Stripe would send of all that is known now, oldest first, as JSON texts. Sign them with `signStripe`. */
  webhooks(): readonly string[]
}

export interface StripeFakeOptions {
  /** Stands in every id that is made up, so that two stand-ins never make the same. Default `Fake`. */
  readonly seed?: string
  /** Default: the clock of this machine. */
  readonly now_ms?: () => number
  /** Called with every request before anything is done about it; may turn the switches. */
  readonly onRequest?: (request: FakeRequest, faults: Faults) => void
}

export async function startStripeFake({
  seed = 'Fake',
  now_ms = Date.now,
  onRequest,
}: StripeFakeOptions = {}): Promise<StripeFake> {
  const books = newFakeBooks(seed, now_ms)
  const keys = new Map<string, Remembered>()
  const server = await startFakeServer((request, faults) => answer(books, keys, request, faults), onRequest)
  return {
    ...server,
    pay: (payment) => enterPayment(books, payment),
    giveBack: (refund) => enterRefund(books, refund).id,
    dispute: (dispute) => enterDispute(books, dispute),
    decide: (dispute, status) => decideDispute(books, dispute, status),
    put: (kind, object) => {
      books.put(kind, object)
    },
    webhooks: () => webhooks(books),
  }
}

interface Remembered {
  readonly request: string
  readonly answer: FakeAnswer
}

/** What one request is about, beside its path. */
interface Asked {
  readonly books: FakeBooks
  readonly fields: URLSearchParams
  readonly faults: Faults
}

function answer(
  books: FakeBooks,
  keys: Map<string, Remembered>,
  request: FakeRequest,
  faults: Faults,
): FakeAnswer {
  const { authorization = '' } = request.headers
  if (faults.locked_out || !/^Bearer (?:sk|rk)_test_/.test(authorization)) {
    return problem(401, { message: 'Invalid API key provided' })
  }
  if (request.method === 'GET') return read({ books, fields: request.query, faults }, request.path)
  return underKey(keys, request, faults, (fields) => act({ books, fields, faults }, request.path))
}

/** The first answer under a key is given again, a server error too; nothing is kept of what was refused as malformed. */
function underKey(
  keys: Map<string, Remembered>,
  { headers, path, body }: FakeRequest,
  faults: Faults,
  run: (fields: URLSearchParams) => FakeAnswer,
): FakeAnswer {
  const key = headers['idempotency-key']
  const text = `${path}?${body}`
  if (faults.keys_expire) keys.clear()
  const before = key === undefined ? undefined : keys.get(key)
  if (before !== undefined) {
    if (before.request === text) return { ...before.answer, headers: { 'idempotent-replayed': 'true' } }
    return problem(400, {
      type: 'idempotency_error',
      message: 'Keys can only be used with the same parameters',
    })
  }
  const done = run(new URLSearchParams(body.toString('utf8')))
  const kept = faults.errors_after > 0 ? problem(500, { type: 'api_error' }) : done
  if (key !== undefined && kept.status !== 400 && kept.status !== 404)
    keys.set(key, { request: text, answer: kept })
  return done
}

const PLACES: Readonly<Record<string, FakeKind>> = {
  payment_intents: 'payment_intents',
  charges: 'charges',
  refunds: 'refunds',
  disputes: 'disputes',
  'checkout/sessions': 'sessions',
  invoices: 'invoices',
  subscriptions: 'subscriptions',
}

function read(asked: Asked, path: string): FakeAnswer {
  if (path === '/v1/payment_intents/search') return search(asked)
  const [, place = '', id] = /^\/v1\/(checkout\/sessions|[a-z_]+)(?:\/([^/]+))?$/.exec(path) ?? []
  const kind = Object.hasOwn(PLACES, place) ? PLACES[place] : undefined
  if (kind === undefined) return problem(404, { message: 'Unrecognized request URL' })
  if (id === undefined) return list(asked, kind)
  const object = asked.books.get(kind, decodeURIComponent(id), asked.faults.lag_ms)
  return object === undefined
    ? missing()
    : { status: 200, body: expanded(asked, object, expansions(asked, '')) }
}

/** `metadata['order_id']:'A-1'`, the only kind of query that is asked. */
function search(asked: Asked): FakeAnswer {
  const query = asked.fields.get('query') ?? ''
  const [, key, value] = /^metadata\['((?:[^'\\]|\\.)*)'\]:'((?:[^'\\]|\\.)*)'$/.exec(query) ?? []
  if (key === undefined || value === undefined) return problem(400, { message: 'The query cannot be read' })
  const plain = (text: string) => text.replace(/\\(.)/g, '$1')
  const found = asked.books.all('payment_intents', asked.faults.lag_ms).filter((intent) => {
    const metadata = intent.metadata as Readonly<Record<string, string>>
    return metadata[plain(key)] === plain(value)
  })
  return page(asked, found, 'search_result')
}

function list(asked: Asked, kind: FakeKind): FakeAnswer {
  const { books, fields, faults } = asked
  const after = fields.get('starting_after')
  if (faults.list_breaks && after !== null) return problem(500, { type: 'api_error' })
  const bound = (name: string) => Number(fields.get(`created[${name}]`) ?? Number.NaN)
  const [gte, lt, lte] = [bound('gte'), bound('lt'), bound('lte')]
  const payment = fields.get('payment_intent')
  const all = books
    .all(kind, faults.lag_ms)
    .filter(({ created }) => !(created < gte) && !(created >= lt) && !(created > lte))
    .filter((object) => payment === null || object.payment_intent === payment)
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  return page(asked, all.slice(from), 'list')
}

function page(asked: Asked, objects: readonly FakeObject[], object: string): FakeAnswer {
  const limit = Number(asked.fields.get('limit') ?? 10)
  const data = objects.slice(0, limit).map((one) => expanded(asked, one, expansions(asked, 'data.')))
  return { status: 200, body: { object, data, has_more: objects.length > limit, url: '/v1' } }
}

function expansions({ fields }: Asked, prefix: string): readonly string[] {
  const names = [...fields].filter(([name]) => name.startsWith('expand[')).map(([, value]) => value)
  return names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
}

function expanded(asked: Asked, object: FakeObject, names: readonly string[]): object {
  const { books, faults } = asked
  const opened: Record<string, unknown> = { ...object }
  for (const name of ['latest_charge', 'charge'].filter((one) => names.includes(one))) {
    const found = books.get('charges', String(object[name]), faults.lag_ms)
    const inner = names.filter((one) => one.startsWith(`${name}.`)).map((one) => one.slice(name.length + 1))
    if (found !== undefined) opened[name] = expanded(asked, found, inner)
  }
  if (names.includes('refunds')) {
    const data = books.all('refunds', faults.lag_ms).filter((one) => one.charge === object.id)
    opened.refunds = { object: 'list', data, has_more: false }
  }
  return opened
}

function act(asked: Asked, path: string): FakeAnswer {
  if (path === '/v1/refunds') return createRefund(asked)
  if (path === '/v1/payment_intents') return createPayment(asked)
  return problem(404, { message: 'Unrecognized request URL' })
}

function createRefund({ books, fields }: Asked): FakeAnswer {
  const payment = fields.get('payment_intent') ?? fields.get('charge') ?? ''
  const charged = chargeOf(books, payment)
  if (charged === undefined) return missing()
  const left = Number(charged.amount_captured) - Number(charged.amount_refunded)
  const amount = Number(fields.get('amount') ?? left)
  if (left === 0) return problem(400, { code: 'charge_already_refunded' })
  if (!(amount > 0 && amount <= left)) return problem(400, { param: 'amount' })
  const amount_minor = minorFromStripe(amount, String(charged.currency).toUpperCase(), 'amount')
  const about = {
    payment: String(charged.payment_intent ?? payment),
    amount_minor,
    metadata: metadataIn(fields),
  }
  return { status: 200, body: enterRefund(books, about) }
}

/** A method whose name says so is declined. */
function createPayment(asked: Asked): FakeAnswer {
  const { books, fields } = asked
  const metadata = metadataIn(fields)
  const payment = books.id('pi')
  const declined = (fields.get('payment_method') ?? '').includes('declined')
  const currency = (fields.get('currency') ?? 'usd').toUpperCase()
  enterPayment(books, {
    payment,
    amount_minor: minorFromStripe(Number(fields.get('amount')), currency, 'amount'),
    currency,
    status: declined ? 'failed' : 'succeeded',
  })
  for (const [kind, id] of [
    ['payment_intents', payment],
    ['charges', chargeOf(books, payment)!.id],
  ] as const) {
    books.put(kind, { ...books.get(kind, id)!, metadata })
  }
  const made = expanded(asked, books.get('payment_intents', payment)!, expansions(asked, ''))
  if (!declined) return { status: 200, body: made }
  return problem(402, {
    type: 'card_error',
    code: 'card_declined',
    decline_code: 'insufficient_funds',
    payment_intent: made,
  })
}

function metadataIn(fields: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...fields].flatMap(([name, value]) => {
      const key = /^metadata\[(.+)\]$/.exec(name)?.[1]
      return key === undefined ? [] : [[key, value]]
    }),
  )
}

function problem(status: number, error: Readonly<Record<string, unknown>>): FakeAnswer {
  return {
    status,
    body: { error: { type: 'invalid_request_error', message: 'It cannot be done', ...error } },
  }
}

function missing(): FakeAnswer {
  return problem(404, { code: 'resource_missing' })
}

function webhooks(books: FakeBooks): readonly string[] {
  const told: (readonly [string, FakeObject])[] = [
    ...oldestFirst(books, 'payment_intents').flatMap((intent) => toldOfPayment(books, intent)),
    ...oldestFirst(books, 'sessions').map((session) => ['checkout.session.completed', session] as const),
    ...oldestFirst(books, 'refunds').map(
      (refund) => [refund.status === 'failed' ? 'refund.failed' : 'refund.created', refund] as const,
    ),
    ...oldestFirst(books, 'disputes').map(
      (dispute) =>
        [DECIDED.has(dispute.status) ? 'charge.dispute.closed' : 'charge.dispute.created', dispute] as const,
    ),
  ]
  return told.map(([type, object]) => {
    const payment = String(object.payment_intent ?? object.id)
    return envelope(type, { payment, amount_minor: 0, at_s: object.created }, object)
  })
}

const DECIDED: ReadonlySet<unknown> = new Set(['won', 'lost'])

function oldestFirst(books: FakeBooks, kind: FakeKind): readonly FakeObject[] {
  return [...books.all(kind)].reverse()
}

function toldOfPayment(books: FakeBooks, intent: FakeObject): readonly (readonly [string, FakeObject])[] {
  const charged = chargeOf(books, intent.id)
  switch (intent.status) {
    case 'succeeded':
      return [
        ...(charged === undefined ? [] : [['charge.succeeded', charged] as const]),
        ['payment_intent.succeeded', intent],
      ]
    case 'requires_payment_method':
      return [['payment_intent.payment_failed', intent]]
    case 'requires_capture':
      return [['payment_intent.amount_capturable_updated', intent]]
    default:
      return [[`payment_intent.${String(intent.status)}`, intent]]
  }
}
