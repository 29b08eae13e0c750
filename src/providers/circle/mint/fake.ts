import type { FakeAnswer, FakeRequest, Faults } from '../../fake-server.ts'
import { recordIn } from '../../field.ts'
import type { SampleMessage } from '../../sample-maker.ts'
import { FakeAnswers, found, INVALID, NOT_FOUND } from '../fake-answers.ts'
import { FakeBook } from '../fake-book.ts'
import { uuidFrom } from '../uuid.ts'
import type { MintMoneyText } from './sample.ts'
import { intentOf, mintBody, mintPayment, mintRefund, sampleIntent } from './sample.ts'

export interface FakeMintPayment {
  readonly amount: string
  /** Default `USD`. */
  readonly currency?: string | undefined
  readonly order?: string | undefined
  /** Default `paid`. */
  readonly status?: string | undefined
}

/** The part of the stand-in that is Circle Mint. */
export interface FakeMint {
  /** Somebody pays the intent of an order. Gives the payment's id. */
  pay(payment: FakeMintPayment): string
  /** A payment or refund reaches another status. */
  reach(id: string, status: string): void
  /** The notifications that the present state implies, as Circle would send them now. */
  messages(): readonly SampleMessage[]
  handle(request: FakeRequest, faults: Faults): FakeAnswer | undefined
}

/** @param now_ms the clock of the stand-in, Unix milliseconds */
export function newFakeMint(now_ms: () => number): FakeMint {
  const payments = new FakeBook()
  const intents = new FakeBook()
  const answers = new FakeAnswers()
  const isoNow = () => new Date(now_ms()).toISOString()
  let made = 0

  function pay({ amount, currency = 'USD', order, status = 'paid' }: FakeMintPayment): string {
    made += 1
    const id = uuidFrom(`fake-payment/${made}`)
    const intent = sampleIntent(order ?? `#${made}`)
    const money = { amount, currency }
    const at = isoNow()
    const paid = { ...mintPayment({ id, intent, status, money, at }), ...(order === undefined ? CARD : {}) }
    payments.put(id, paid, now_ms())
    const paymentIds = [...((intents.at(intent, now_ms())?.paymentIds as string[] | undefined) ?? []), id]
    intents.put(intent, intentOf({ id: intent, status: 'complete', money, paymentIds, at }), now_ms())
    return id
  }

  function refund(payment: string, money: MintMoneyText | undefined, key: string): FakeAnswer {
    if (payments.at(payment, now_ms()) === undefined) return NOT_FOUND
    if (money === undefined) return INVALID
    const id = uuidFrom(`fake-mint-refund/${key}`)
    const made = mintRefund({ id, payment, status: 'pending', money, at: isoNow() })
    payments.put(id, made, now_ms())
    return found(made, 201)
  }

  function post(path: string, body: Buffer, faults: Faults): FakeAnswer | undefined {
    const [, collection, id = ''] = /^\/v1\/(payments|paymentIntents)\/([^/]+)\/refund$/.exec(path) ?? []
    if (collection === undefined) return undefined
    return answers.once(faults, body, (request, key) => {
      const money = recordIn(request, collection === 'payments' ? 'amount' : 'toAmount') as
        | MintMoneyText
        | undefined
      const of =
        collection === 'payments' ? id : String((intents.at(id, now_ms())?.paymentIds as string[])?.[0])
      return refund(of, money, key)
    })
  }

  return {
    pay,
    reach: (id, status) => {
      const before = payments.at(id, now_ms())
      if (before === undefined) throw new Error(`the stand-in has no payment ${id}`)
      payments.put(id, { ...before, status, updateDate: isoNow() }, now_ms())
    },
    messages: () =>
      payments.all(now_ms()).map((payment) => {
        const body = mintBody({ notificationType: 'payments', payment }, String(payment.updateDate))
        return { method: 'POST', query: '', headers: { 'content-type': 'text/plain; charset=UTF-8' }, body }
      }),
    handle: ({ method, path, query, body }, faults) => {
      const seen_ms = now_ms() - faults.lag_ms
      if (method === 'POST') return post(path, body, faults)
      if (path === '/v1/payments') return found(payments.page(seen_ms, query))
      if (path === '/v1/chargebacks') return found([])
      const [, collection, id = ''] = /^\/v1\/(payments|paymentIntents)\/([^/]+)$/.exec(path) ?? []
      const data = collection === 'payments' ? payments.at(id, seen_ms) : intents.at(id, seen_ms)
      return data === undefined ? undefined : found(data)
    },
  }
}

/** A payment without an intent: by card. */
const CARD = {
  paymentIntentId: undefined,
  fromAddresses: undefined,
  depositAddress: undefined,
  source: { type: 'card' },
}
