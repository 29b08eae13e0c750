import pg from 'pg'
import { expect, it } from 'vitest'
import { withPostgres } from '../../test/database.ts'
import { createPaidOnce } from '../paidonce.ts'
import { signStripe, stripe, stripeEvents } from '../providers/stripe/index.ts'

const SECRET = 'whsec_cG9vbC1vZi10aGUtbWVyY2hhbnQ'

withPostgres('the merchant’s own pool', (open, url) => {
  it('P10 case-56 serves a burst beside the merchant’s own queries, and its sessions stay as they were', async () => {
    const database = await open()
    const pool = new pg.Pool({ connectionString: url(), max: 3 })
    const settings = `select current_setting('search_path') as path, current_setting('lock_timeout') as lock,
      current_setting('statement_timeout') as statement, current_setting('enable_seqscan') as seqscan`
    const before = (await pool.query(settings)).rows
    const paidonce = await createPaidOnce({
      mode: 'test',
      database: pool,
      endpoints: { stripe: stripe({ webhookSecrets: SECRET }) },
    })
    try {
      const references = Array.from({ length: 100 }, (_, index) => `P-${index}`)
      const items = [{ item: 'licence', quantity: 1 }]
      await paidonce.orders.register(
        references.map((reference) => ({ reference, amount_minor: 100n, currency: 'USD', items })),
      )
      const deliver = (text: string) => {
        const body = Buffer.from(text)
        const headers = signStripe(body, SECRET, Date.now())
        return paidonce.receive({ endpoint: 'stripe', method: 'POST', headers, body })
      }
      const events = references.flatMap((order) => {
        const sample = { payment: `pi_${order}`, amount_minor: 100n, order }
        const paid = stripeEvents.paymentIntentSucceeded(sample)
        return [paid, stripeEvents.chargeSucceeded(sample), paid, stripeEvents.checkoutCompleted(sample)]
      })
      const own = Array.from({ length: 50 }, () => pool.query('select pg_sleep(0.005)'))
      const answers = await Promise.all(events.map(deliver))
      await Promise.all(own)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      const granted = `select count(*)::int as granted from entitlements where state = 'granted'`
      expect(await database.query({ name: '', text: granted })).toEqual([{ granted: 100 }])
      for (let client = 0; client < 3; client += 1) expect((await pool.query(settings)).rows).toEqual(before)
    } finally {
      await paidonce.close()
      expect(pool.ended).toBe(false)
      await pool.end()
    }
  })

  it('P12 case-56 whose connections are all taken is answered with 503, and serves again afterwards', async () => {
    await open()
    const pool = new pg.Pool({ connectionString: url(), max: 1, connectionTimeoutMillis: 100 })
    const endpoints = { stripe: stripe({ webhookSecrets: SECRET }) }
    const paidonce = await createPaidOnce({ mode: 'test', database: pool, endpoints })
    try {
      const body = Buffer.from(stripeEvents.paymentIntentSucceeded({ payment: 'pi_1', amount_minor: 100n }))
      const deliver = async () => {
        const headers = signStripe(body, SECRET, Date.now())
        return (await paidonce.receive({ endpoint: 'stripe', method: 'POST', headers, body })).status
      }
      const taken = await pool.connect()
      expect(await deliver()).toBe(503)
      taken.release()
      expect(await deliver()).toBe(200)
    } finally {
      await paidonce.close()
      await pool.end()
    }
  })
})
