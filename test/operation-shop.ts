import { expect } from 'vitest'
import { OperationWorker, type OperationWorkerOptions } from '../src/operations/operation-worker.ts'
import { Operations } from '../src/operations/operations.ts'
import type { PaidOnceOptions } from '../src/options.ts'
import { newAsk } from '../src/providers/ask.ts'
import type { Provider } from '../src/providers/contract.ts'
import type { StripeFake } from '../src/providers/stripe/fake.ts'
import { stripe } from '../src/providers/stripe/index.ts'
import type { Database } from '../src/store/database.ts'
import { openShop, SHOP_SECRET, type Shop } from './stripe-shop.ts'

export const HOUR_MS = 3_600_000

export interface Clock {
  now_ms: number
}

export interface OperationShop extends Shop {
  readonly worker: OperationWorker
  readonly operations: Operations
  newWorker(options?: OperationWorkerOptions): OperationWorker
  /** Performs what is due, again and again with an hour between. */
  run(hours: number): Promise<void>
}

/** A shop whose operations go by a clock of the test's own. */
export function operationShop(
  database: Database,
  clock: Clock,
  options: Partial<PaidOnceOptions> & { readonly worker?: OperationWorkerOptions },
): OperationShop {
  const { worker: defaults = {}, ...more } = options
  const shop = openShop(database, { options: more })
  const { paidonce } = shop
  const now_ms = () => clock.now_ms
  const newWorker = (other: OperationWorkerOptions = {}) =>
    new OperationWorker(
      paidonce.settler,
      paidonce.endpoints,
      1,
      newAsk(fetch, now_ms),
      now_ms,
      (endpoint, request, limit_ms) => paidonce.lookups.askNow(endpoint, request, 'sweep', limit_ms),
      { ...defaults, ...other },
    )
  const worker = newWorker()
  const operations = new Operations(database, paidonce.endpoints, worker, 'default', () => 0, 1, now_ms)
  const run = async (hours: number) => {
    for (let hour = 0; hour < hours; hour += 1) {
      await worker.runOnce()
      clock.now_ms += HOUR_MS
    }
  }
  return { ...shop, worker, newWorker, operations, run }
}

/** A shop whose Stripe is this stand-in. */
export function stripeShop(
  database: Database,
  clock: Clock,
  fake: StripeFake,
  options: Partial<PaidOnceOptions> & { readonly worker?: OperationWorkerOptions } = {},
): OperationShop {
  const provider: Provider = stripe({
    webhookSecrets: SHOP_SECRET,
    apiKey: 'sk_test_operations',
    apiUrl: fake.url,
  })
  return operationShop(database, clock, { endpoints: { stripe: provider }, ...options })
}

/** Everything that the stand-in would send of what it knows now. */
export async function deliverAll(shop: Shop, fake: StripeFake): Promise<void> {
  for (const body of fake.webhooks()) expect(await shop.deliver(body)).toBe(200)
}

export const rows = (database: Database, text: string) => database.query({ name: '', text })

/** Kinds of the open exceptions about operations. */
export const alarms = (database: Database) =>
  rows(
    database,
    "select kind from exceptions where state = 'open' and subject_kind = 'operation' order by kind",
  )
