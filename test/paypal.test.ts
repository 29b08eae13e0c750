import { expect, it } from 'vitest'
import { audit } from '../src/audit/audit.ts'
import { newAsk } from '../src/providers/ask.ts'
import { type FakePaypal, startFakePaypal } from '../src/providers/paypal/fake.ts'
import { collision, standIn, vectorEndpoint } from '../src/providers/paypal/vectors.ts'
import { startFakeIpn } from '../src/providers/paypal-ipn/fake.ts'
import { paypalIpn } from '../src/providers/paypal-ipn/index.ts'
import { SAMPLE_RECEIVER, samples } from '../src/providers/paypal-ipn/sample.ts'
import { ConfirmWorker } from '../src/receive/unconfirmed.ts'
import { LookupWorker } from '../src/reconcile/lookup-worker.ts'
import type { Database } from '../src/store/database.ts'
import { withDatabases } from './database.ts'
import { openShop } from './stripe-shop.ts'

const WEBHOOK = 'STANDIN0WEBHOOK0OLDER'
const sale = { seed: 'a', amount_minor: 2_000n, currency: 'USD', order: 'A-1' }
const ask = newAsk(fetch, Date.now)
const observer = { refused: () => undefined, verified: () => undefined }

/** A shop with both ways in which PayPal tells, and their workers. */
async function openBoth(database: Database, rest: (fake: FakePaypal) => ReturnType<typeof standIn>) {
  const fake = await startFakePaypal()
  const ipn = await startFakeIpn()
  const paypal_ipn = paypalIpn({ environment: 'sandbox', receiverId: SAMPLE_RECEIVER, baseUrl: ipn.url })
  const shop = openShop(database, { options: { endpoints: { paypal: rest(fake), ipn: paypal_ipn } } })
  const { settler, endpoints } = shop.paidonce
  const later = () => Date.now() + 1_000
  const lookups = new LookupWorker(settler, endpoints, 1, ask, later)
  const confirmations = new ConfirmWorker(settler, endpoints, 1, ask, later, observer)
  return {
    ...shop,
    fake,
    ipn,
    lookups,
    confirmations,
    /** Delivers every event so far, as PayPal would. */
    async deliver() {
      for (const body of fake.events()) {
        const headers = fake.sign(body, WEBHOOK)
        const message = { endpoint: 'paypal', method: 'POST', headers, body: Buffer.from(body) }
        expect((await shop.paidonce.receive(message)).status).toBe(200)
      }
    },
    async notify(event: string, wish: { payment: string; amount_minor?: bigint }) {
      const common = { order: 'A-1', amount_minor: 2_000n, currency: 'USD', live: false, at_s: 1_760_000_000 }
      const { headers, body } = samples.make({ ...common, ...wish, event }, '', 0)
      const message = { endpoint: 'ipn', method: 'POST', headers, body: ipn.send(body) }
      expect((await shop.paidonce.receive(message)).status).toBe(200)
    },
    async close() {
      await Promise.all([fake.close(), ipn.close()])
    },
  }
}

const trusting = (fake: FakePaypal) => standIn({ baseUrl: fake.url, fetcher: fetch })

withDatabases('PayPal', (open) => {
  const query = async (text: string) => (await open()).query({ name: '', text })
  const rights = () => query('select item, state from entitlements')
  const payments = () =>
    query("select status, captured_minor::text as captured from payments where status <> 'linked'")

  it.each([
    [1_000n, []],
    [2_000n, [{ item: 'licence', state: 'granted' }]],
  ])(
    'P17 of two bodies with one CRC-32 only the %s that the look-up confirms are granted',
    async (amount_minor, granted) => {
      const tolerance_s = 100 * 365 * 86_400
      const shop = await openBoth(await open(), (fake) => vectorEndpoint({ baseUrl: fake.url, tolerance_s }))
      await shop.order('A-1')
      shop.fake.pay({ ...sale, amount_minor, payment: '3C679366HH908993F' })
      for (const { headers, body } of [collision.forged, collision.genuine, collision.forged]) {
        const message = { endpoint: 'paypal', method: 'POST', headers, body: Buffer.from(body) }
        expect(
          (await shop.paidonce.receive(message as Parameters<typeof shop.paidonce.receive>[0])).status,
        ).toBe(200)
      }
      expect(await rights()).toEqual([])
      while ((await shop.lookups.runOnce()) > 0);
      expect(await payments()).toEqual([{ status: 'succeeded', captured: `${amount_minor}` }])
      expect(await rights()).toEqual(granted)
      expect((await audit(await open())).differences).toEqual([])
      await shop.close()
    },
  )

  it('P09 P52 approval, capture, refund and their copies, by webhook and by IPN, are one payment', async () => {
    const shop = await openBoth(await open(), trusting)
    await shop.order('A-1')
    const payment = shop.fake.pay(sale)
    for (let copy = 0; copy < 3; copy += 1) {
      await shop.deliver()
      await shop.notify('web_accept/Completed', { payment })
    }
    expect(await rights()).toEqual([])
    while ((await shop.lookups.runOnce()) + (await shop.confirmations.runOnce()) > 0);
    expect(await payments()).toEqual([{ status: 'succeeded', captured: '2000' }])
    expect(await rights()).toEqual([{ item: 'licence', state: 'granted' }])
    shop.fake.refund(payment, 2_000n)
    await shop.deliver()
    while ((await shop.lookups.runOnce()) > 0);
    expect(await rights()).toEqual([{ item: 'licence', state: 'revoked' }])
    expect(await query("select kind from exceptions where state = 'open'")).toEqual([])
    expect((await audit(await open())).differences).toEqual([])
    await shop.close()
  })

  it('P09 three identical IPNs make one event and one payment, a forged one none', async () => {
    const shop = await openBoth(await open(), trusting)
    await shop.order('A-1')
    for (let copy = 0; copy < 3; copy += 1) {
      await shop.notify('web_accept/Completed', { payment: 'TXN1' })
      await shop.confirmations.runOnce()
    }
    const forged = samples.make(
      { order: 'A-1', amount_minor: 2_000n, currency: 'USD', payment: 'TXN2', live: false, at_s: 1 },
      '',
      0,
    )
    await shop.paidonce.receive({
      endpoint: 'ipn',
      method: 'POST',
      headers: forged.headers,
      body: Buffer.from(forged.body),
    })
    await shop.confirmations.runOnce()
    expect(await query('select key_kind, state from events')).toEqual([
      { key_kind: 'digest', state: 'settled' },
    ])
    expect(await payments()).toEqual([{ status: 'succeeded', captured: '2000' }])
    expect(await rights()).toEqual([{ item: 'licence', state: 'granted' }])
    await shop.close()
  })
})
