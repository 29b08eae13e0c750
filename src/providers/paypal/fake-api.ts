import type { FakeAnswer, FakeRequest, Faults } from '../fake-server.ts'
import { fieldIn, listIn, textIn } from '../field.ts'
import { readMoney } from './amount.ts'
import type { FakeKind, FakeStore } from './fake-store.ts'
import { idFrom, madeRefund } from './made-up.ts'

const TOKEN = 'stand-in-token'

const READS: readonly (readonly [RegExp, FakeKind])[] = [
  [/^\/v2\/payments\/captures\/([^/]+)$/, 'capture'],
  [/^\/v2\/payments\/refunds\/([^/]+)$/, 'refund'],
  [/^\/v2\/payments\/refunds\/([^/]+)$/, 'reversal'],
  [/^\/v2\/payments\/authorizations\/([^/]+)$/, 'authorization'],
  [/^\/v2\/checkout\/orders\/([^/]+)$/, 'order'],
  [/^\/v1\/payments\/sale\/([^/]+)$/, 'sale'],
  [/^\/v1\/payments\/refund\/([^/]+)$/, 'sale_refund'],
  [/^\/v1\/billing\/subscriptions\/([^/]+)$/, 'subscription'],
  [/^\/v1\/customer\/disputes\/([^/]+)$/, 'dispute'],
  [/^\/v2\/invoicing\/invoices\/([^/]+)$/, 'invoice'],
]

const PAGE_SIZE = 2

export function answerPaypal(store: FakeStore, request: FakeRequest, faults: Faults): FakeAnswer {
  const { method, path, headers } = request
  if (path === '/v1/oauth2/token') return token(request, faults)
  if (faults.locked_out || headers.authorization !== `Bearer ${TOKEN}`)
    return { status: 401, body: { error: 'invalid_token' } }
  const [, refunded] = /^\/v2\/payments\/captures\/([^/]+)\/refund$/.exec(path) ?? []
  if (method === 'POST' && refunded !== undefined) return refund(store, request, refunded, faults)
  if (path === '/v1/customer/disputes') return disputes(store, request, faults)
  if (path === '/v1/reporting/transactions') return report(store, request, faults)
  for (const [pattern, kind] of READS) {
    const [, id] = pattern.exec(path) ?? []
    if (id === undefined) continue
    const object = store.read(kind, id, faults.lag_ms)
    if (object !== undefined) return { status: 200, body: object }
  }
  return NOT_FOUND
}

const NOT_FOUND: FakeAnswer = {
  status: 404,
  body: { name: 'RESOURCE_NOT_FOUND', details: [{ issue: 'INVALID_RESOURCE_ID' }] },
}

function token({ headers, body }: FakeRequest, faults: Faults): FakeAnswer {
  const asked = headers.authorization?.startsWith('Basic ') && body.includes('client_credentials')
  return asked && !faults.locked_out
    ? { status: 200, body: { access_token: TOKEN, token_type: 'Bearer', expires_in: 32_400 } }
    : { status: 401, body: { error: 'invalid_client' } }
}

/** Under a known key the first refund is shown as it is now, and nothing else happens. */
function refund(store: FakeStore, request: FakeRequest, payment: string, faults: Faults): FakeAnswer {
  const capture = store.read('capture', payment)
  if (capture === undefined) return NOT_FOUND
  const key = request.headers['paypal-request-id']
  const first = key === undefined || faults.keys_expire ? undefined : store.answered.get(key)
  if (first !== undefined) return { status: 200, body: store.read('refund', first.id)! }
  const amount = fieldIn(JSON.parse(request.body.toString('utf8')), 'amount')
  const money = readMoney(textIn(amount, 'value'), textIn(amount, 'currency_code'), 'amount')
  if (store.givenBack(payment) + money.amount_minor > store.sold(payment).amount_minor) {
    const details = [{ issue: 'REFUND_AMOUNT_EXCEEDED' }]
    return { status: 422, body: { name: 'UNPROCESSABLE_ENTITY', details } }
  }
  const id = idFrom('refund', payment, store.count('refund'))
  const total_minor = store.giveBack(payment, money.amount_minor)
  const made = { id, status: 'COMPLETED', ...money, payment, total_minor, at_s: store.now_s() }
  store.put('refund', id, madeRefund(made))
  store.markRefunded(payment)
  store.tell('PAYMENT.CAPTURE.REFUNDED', 'refund', id)
  if (key !== undefined) store.answered.set(key, { id })
  return { status: 201, body: store.read('refund', id)! }
}

function disputes(store: FakeStore, { query }: FakeRequest, faults: Faults): FakeAnswer {
  const payment = query.get('disputed_transaction_id')
  const after = query.get('update_time_after')
  const before = query.get('update_time_before')
  const found = store.all('dispute', faults.lag_ms).filter((one) => {
    const changed = textIn(one, 'update_time') ?? ''
    const of = textIn(listIn(one, 'disputed_transactions')[0], 'seller_transaction_id')
    const inside =
      (after === null || Date.parse(changed) >= Date.parse(after)) &&
      (before === null || Date.parse(changed) < Date.parse(before))
    return inside && (payment === null || of === payment)
  })
  const page = Number(query.get('next_page_token') ?? '0')
  if (page > 0 && faults.list_breaks) return { status: 500, body: {} }
  const more = found.length > (page + 1) * PAGE_SIZE
  const next = new URLSearchParams(query)
  next.set('next_page_token', String(page + 1))
  return {
    status: 200,
    body: {
      // As the real list does, without what is disputed and how it ended.
      items: found.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE).map((one) => ({
        ...one,
        disputed_transactions: undefined,
        dispute_outcome: undefined,
        money_movements: undefined,
      })),
      links: more
        ? [{ rel: 'next', href: `https://api.sandbox.paypal.com/v1/customer/disputes?${next}` }]
        : [],
    },
  }
}

function report(store: FakeStore, { query }: FakeRequest, faults: Faults): FakeAnswer {
  const from_ms = Date.parse(query.get('start_date') ?? '')
  const to_ms = Date.parse(query.get('end_date') ?? '')
  if (!(to_ms - from_ms < 31 * 86_400_000)) return { status: 400, body: { name: 'INVALID_REQUEST' } }
  const entries = [
    ...store.all('capture', faults.lag_ms).map((one) => entry(one, 'T0006')),
    ...store.all('sale', faults.lag_ms).map((one) => entry(one, 'T0002')),
    ...store.all('refund', faults.lag_ms).map((one) => entry(one, 'T1107')),
  ].filter(({ transaction_initiation_date: at }) => Date.parse(at) >= from_ms && Date.parse(at) <= to_ms)
  const page = Number(query.get('page') ?? '1')
  if (page > 1 && faults.list_breaks) return { status: 500, body: {} }
  const shown = entries.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  return {
    status: 200,
    body: {
      transaction_details: shown.map((transaction_info) => ({ transaction_info })),
      page,
      total_items: entries.length,
      total_pages: Math.ceil(entries.length / PAGE_SIZE),
    },
  }
}

const STATUS: Readonly<Record<string, string>> = { PENDING: 'P', DECLINED: 'D', FAILED: 'D', DENIED: 'D' }

function entry(object: object, code: string) {
  const status = (textIn(object, 'status') ?? textIn(object, 'state') ?? '').toUpperCase()
  const value = textIn(object, 'amount', 'value') ?? textIn(object, 'amount', 'total') ?? ''
  const currency_code = textIn(object, 'amount', 'currency_code') ?? textIn(object, 'amount', 'currency')
  const up = listIn(object, 'links').find((one) => textIn(one, 'rel') === 'up')
  const refunded = /captures\/([^/]+)$/.exec(textIn(up, 'href') ?? '')?.[1]
  const subscription = textIn(object, 'billing_agreement_id')
  const reference =
    code === 'T1107' && refunded !== undefined
      ? { paypal_reference_id: refunded, paypal_reference_id_type: 'TXN' }
      : subscription === undefined
        ? {}
        : { paypal_reference_id: subscription, paypal_reference_id_type: 'SUB' }
  return {
    transaction_id: textIn(object, 'id') ?? '',
    ...reference,
    transaction_event_code: code,
    transaction_initiation_date: textIn(object, 'create_time') ?? '',
    transaction_updated_date: textIn(object, 'update_time') ?? '',
    transaction_amount: { currency_code, value: code === 'T1107' ? `-${value}` : value },
    transaction_status: STATUS[status] ?? 'S',
    invoice_id: textIn(object, 'invoice_id'),
    custom_field: textIn(object, 'custom_id') ?? textIn(object, 'custom'),
  }
}
