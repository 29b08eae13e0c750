// The library under test, as a merchant would embed it: full settling, orders known beforehand, no delivery of effects
// (the plain handler only writes its outbox as well).
import pg from 'pg'
import { createPaidOnce } from '../../dist/index.js'
import { stripe } from '../../dist/providers/stripe/index.js'
import { serve } from '../../dist/server/index.js'
import { amountOf, referenceOf } from '../traffic.js'
import { attach } from './lifeline.js'

const secret = process.env.BENCH_SECRET ?? 'whsec_bench'
const database_url = process.env.DATABASE_URL || undefined
const ORDERS_AT_ONCE = 2_000

if (database_url !== undefined) {
  const client = new pg.Client({ connectionString: database_url })
  await client.connect()
  await client.query('create table merchant_licences (order_id text primary key, item text not null)')
  await client.end()
}

const hook = {
  onEntitlement: (change, tx) =>
    tx.query('insert into merchant_licences values ($1, $2)', [change.order, change.item]),
}

const paidonce = await createPaidOnce({
  mode: 'live',
  ...(database_url === undefined ? { directory: process.env.BENCH_DIRECTORY } : { database: database_url }),
  endpoints: { stripe: stripe({ webhookSecrets: [secret] }) },
  ...(process.env.BENCH_HOOK === 'yes' ? hook : {}),
})
const server = await serve(paidonce, { port: Number(process.env.PORT ?? 0), host: '127.0.0.1' })

attach(server.port, {
  async prepare({ first, end }) {
    for (let n = first; n < end; n += ORDERS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(ORDERS_AT_ONCE, end - n) }, (_, i) => n + i)
      await paidonce.orders.register(numbers.map(order))
    }
  },
  async stop() {
    await server.close()
    await paidonce.close()
  },
})

function order(n) {
  const items = [{ item: 'licence', quantity: 1 }]
  return { reference: referenceOf(n), amount_minor: BigInt(amountOf(n)), currency: 'USD', items }
}
