import { fieldIn } from '../../field.ts'
import { loadSdk } from '../sdk.ts'

export interface MintApi {
  readonly apiKey: string
  readonly baseUrl: string
  /** Where a payment on a chain may be given back to. */
  readonly refundTo: 'sender' | undefined
}

export interface MintPage {
  readonly collection: 'payments' | 'chargebacks'
  readonly from_ms: number
  readonly to_ms: number
  readonly pageAfter: string | undefined
  readonly pageSize: number
}

/** What we ask of Circle Mint. All answer the `data` of the answer. */
export interface MintClient {
  get(object: string, id: string, limit_ms: number): Promise<unknown>
  list(page: MintPage, limit_ms: number): Promise<unknown>
  refundPayment(payment: string, body: object, limit_ms: number): Promise<unknown>
  refundIntent(intent: string, body: object, limit_ms: number): Promise<unknown>
}

const PACKAGE = '@circle-fin/circle-sdk'

type Call = (...given: readonly unknown[]) => Promise<unknown>

/** What we use of the SDK; it is optional, so its own types are not at hand everywhere. */
interface Circle {
  readonly payments: { getPayment: Call; listPayments: Call; refundPayment: Call }
  readonly cryptoPaymentIntents: { getPaymentIntent: Call; refundPaymentIntent: Call }
  readonly chargebacks: { getChargeback: Call; listChargebacks: Call }
}

/** The SDK (generated, over axios) sends each request once and follows redirects unless told otherwise. */
export async function newMintClient({ apiKey, baseUrl }: MintApi): Promise<MintClient> {
  const { Circle } = await loadSdk(PACKAGE, () => import('@circle-fin/circle-sdk'))
  const make = Circle as new (apiKey: string, baseUrl: string) => Circle
  const { payments, cryptoPaymentIntents, chargebacks } = new make(apiKey, baseUrl)
  const options = (limit_ms: number) => ({ timeout: limit_ms, maxRedirects: 0 })
  return {
    get: async (object, id, limit_ms) => {
      if (object === 'payment') return dataOf(await payments.getPayment(id, options(limit_ms)))
      if (object === 'paymentIntent')
        return dataOf(await cryptoPaymentIntents.getPaymentIntent(id, options(limit_ms)))
      return dataOf(await chargebacks.getChargeback(id, options(limit_ms)))
    },
    list: async ({ collection, from_ms, to_ms, pageAfter, pageSize }, limit_ms) => {
      const [from, to] = [from_ms, to_ms].map((ms) => new Date(ms).toISOString())
      const none = undefined
      const listed =
        collection === 'payments'
          ? payments.listPayments(
              none,
              none,
              none,
              none,
              none,
              from,
              to,
              none,
              pageAfter,
              pageSize,
              options(limit_ms),
            )
          : chargebacks.listChargebacks(none, from, to, none, pageAfter, pageSize, options(limit_ms))
      return dataOf(await listed)
    },
    refundPayment: async (payment, body, limit_ms) =>
      dataOf(await payments.refundPayment(payment, body, options(limit_ms))),
    refundIntent: async (intent, body, limit_ms) =>
      dataOf(await cryptoPaymentIntents.refundPaymentIntent(intent, body, options(limit_ms))),
  }
}

function dataOf(response: unknown): unknown {
  return fieldIn(response, 'data', 'data')
}
