import { PaidOnce } from '../../src/paidonce.ts'
import { stripe } from '../../src/providers/stripe/index.ts'
import type { Database } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { startPostgres } from '../postgres-server.ts'
import { TRAFFIC_SECRET } from '../traffic.ts'

export interface SoakPlace {
  readonly url: string
  readonly database: Database
  /** Registers orders of 20.00 USD. */
  register(references: readonly string[]): Promise<void>
  remove(): Promise<void>
}

/** A migrated database with durable commits, on a PostgreSQL of its own. */
export async function openPlace(): Promise<SoakPlace> {
  const postgres = await startPostgres({ settings: { track_io_timing: 'off' } })
  const url = postgres.url()
  const database = await openPostgres({ url, max: 3 })
  await migrate(database, { mode: 'test', now: new Date() })
  const paidonce = new PaidOnce(
    { mode: 'test', endpoints: { stripe: stripe({ webhookSecrets: TRAFFIC_SECRET }) } },
    database,
    { mode: 'test', buckets: 1, epoch: 1n },
    { verified() {}, refused() {}, answered() {}, fault() {} },
  )
  const items = [{ item: 'licence', quantity: 1 }]
  return {
    url,
    database,
    register: (references) =>
      paidonce.orders.register(
        references.map((reference) => ({ reference, amount_minor: 2_000n, currency: 'USD', items })),
      ),
    remove: async () => {
      await database.close()
      await postgres.remove()
    },
  }
}
