import type { PaidOnceOptions } from '../src/options.ts'
import { PaidOnce } from '../src/paidonce.ts'
import type { Provider } from '../src/providers/contract.ts'
import { signStripe, stripe } from '../src/providers/stripe/index.ts'
import type { Database } from '../src/store/database.ts'

export const SHOP_SECRET = 'whsec_c2hvcC1vZi10aGUtdGVzdHM'

/** A merchant in test mode with one Stripe endpoint, on a database that stays the test's own. */
export interface Shop {
  readonly paidonce: PaidOnce
  /** Registers an order of `amount_minor` USD for one `licence`. */
  order(reference: string, amount_minor?: bigint): Promise<void>
  /** Delivers a signed body and gives the answer's status. */
  deliver(body: string): Promise<number>
}

export interface ShopOptions {
  readonly provider?: Provider
  readonly options?: Partial<PaidOnceOptions>
}

export function openShop(database: Database, { provider, options }: ShopOptions = {}): Shop {
  const paidonce = new PaidOnce(
    {
      mode: 'test',
      endpoints: { stripe: provider ?? stripe({ webhookSecrets: SHOP_SECRET }) },
      ...options,
    },
    database,
    { mode: 'test', buckets: 1, epoch: 1n },
    { verified() {}, refused() {}, answered() {}, fault() {} },
  )
  return {
    paidonce,
    order: (reference, amount_minor = 2_000n) =>
      paidonce.orders.register({
        reference,
        amount_minor,
        currency: 'USD',
        items: [{ item: 'licence', quantity: 1 }],
      }),
    deliver: async (text) => {
      const body = Buffer.from(text)
      const headers = signStripe(body, SHOP_SECRET, Date.now())
      const answer = await paidonce.receive({ endpoint: 'stripe', method: 'POST', headers, body })
      return answer.status
    },
  }
}
