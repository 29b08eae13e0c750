import { afterEach, describe, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop, SHOP_SECRET } from '../../test/stripe-shop.ts'
import { type StripeFake, startStripeFake } from '../providers/stripe/fake.ts'
import { stripe } from '../providers/stripe/index.ts'
import { type RunningServer, serve } from '../server/index.ts'
import type { Database } from '../store/database.ts'
import { makeConfirmToken, readConfirmToken } from './confirm-token.ts'

const SECRET = 'a secret of more than thirty-two characters'
const fakes: StripeFake[] = []
const servers: RunningServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  for (const fake of fakes.splice(0)) await fake.close()
})

async function shopAt(database: Database) {
  const fake = await startStripeFake()
  fakes.push(fake)
  const provider = stripe({ webhookSecrets: SHOP_SECRET, apiKey: 'sk_test_forTestsOnly', apiUrl: fake.url })
  const shop = openShop(database, { provider, options: { confirm_secret: SECRET } })
  const server = await serve(shop.paidonce, { port: 0 })
  servers.push(server)
  return { ...shop, fake, url: `http://127.0.0.1:${server.port}` }
}

withDatabases('a buyer who waits', (open) => {
  it('P01 P40 is told pending until the provider says that it is paid, without any webhook', async () => {
    const { paidonce, order, fake } = await shopAt(await open())
    await order('A-1')
    expect(await paidonce.confirm('A-1')).toEqual({ order: 'A-1', status: 'pending', look_again_ms: 3_000 })
    fake.pay({ amount_minor: 2_000n, order: 'A-1' })
    expect(await paidonce.confirm('A-1', { limit_ms: 10_000 })).toMatchObject({
      status: 'paid',
      look_again_ms: null,
    })
    expect(await paidonce.confirm('A-2')).toMatchObject({ status: 'unknown' })
  })

  it('is answered at once, and asked about in the background', async () => {
    const { paidonce, order, fake } = await shopAt(await open())
    await order('A-1')
    fake.pay({ amount_minor: 2_000n, order: 'A-1' })
    fake.faults.delay_ms = 200
    expect(await paidonce.confirm('A-1', { limit_ms: 0 })).toMatchObject({ status: 'pending' })
    await expect.poll(async () => (await paidonce.confirm('A-1')).status).toBe('paid')
  })

  it('learns nothing without a token for this very order', async () => {
    const { paidonce, order, url } = await shopAt(await open())
    await order('A-1')
    const token = paidonce.confirmToken('A-1')
    const look = async (path: string) => {
      const response = await fetch(`${url}${path}`)
      return [response.status, await response.json()]
    }
    expect(await look(`/confirm/A-1?token=${token}`)).toMatchObject([
      200,
      { order: 'A-1', status: 'pending' },
    ])
    const refused = [404, { status: 'refused' }]
    expect(await look('/confirm/A-1')).toEqual(refused)
    expect(await look(`/confirm/A-2?token=${token}`)).toEqual(refused)
    expect(await look(`/confirm/A-1?token=${token.slice(0, -2)}xx`)).toEqual(refused)
    expect(await look(`/confirm/A-1?token=${token}&token=${token}`)).toEqual(refused)
  })

  it('hears of each change by Server-Sent Events, until nothing more is expected', async () => {
    const { paidonce, order, fake, url, deliver } = await shopAt(await open())
    await order('A-1')
    const headers = { accept: 'text/event-stream' }
    const response = await fetch(`${url}/confirm/A-1?token=${paidonce.confirmToken('A-1')}`, { headers })
    expect(response.headers.get('content-type')).toMatch('text/event-stream')
    fake.pay({ amount_minor: 2_000n, order: 'A-1' })
    for (const body of fake.webhooks()) await deliver(body)
    const told = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(
      ([, json]) => JSON.parse(json!).status,
    )
    expect(told.at(-1)).toBe('paid')
    expect(new Set(told).size).toBe(told.length)
  })

  it('is watched by figures that name nobody', async () => {
    const { order, fake, url, deliver } = await shopAt(await open())
    await order('A-1')
    fake.pay({ payment: 'pi_secretive', amount_minor: 2_000n, order: 'A-1' })
    for (const body of fake.webhooks()) await deliver(body)
    await fetch(`${url}/webhooks/made-up`, { method: 'POST' })
    const read = async () => (await fetch(`${url}/metrics`)).text()
    await expect.poll(read).toContain('paidonce_invariant_broken{invariant="paid_not_fulfilled"} 0')
    const text = await read()
    expect(text).toContain('paidonce_deliveries_total{endpoint="stripe",outcome="ok"} 2')
    expect(text).toContain('paidonce_deliveries_total{endpoint="(unknown)",outcome="unknown_endpoint"} 1')
    expect(text).toMatch(/^paidonce_effects_due [1-9]/m)
    expect(text).not.toMatch(/A-1|pi_secretive|made-up/)
  })
})

describe('a token', () => {
  it('is good for its order and tenant until it runs out', () => {
    const token = makeConfirmToken(SECRET, 'shop/ä', 'A-1', 1_000, 500)
    expect(readConfirmToken(SECRET, token, 'A-1', 1_500)).toBe('shop/ä')
    expect(readConfirmToken(SECRET, token, 'A-1', 1_501)).toBe(null)
    expect(readConfirmToken(`${SECRET}!`, token, 'A-1', 1_000)).toBe(null)
    expect(readConfirmToken(SECRET, token, 'A-1\n', 1_000)).toBe(null)
    const [, tenant, mac] = token.split('.')
    expect(readConfirmToken(SECRET, `zzzzzzzz.${tenant}.${mac}`, 'A-1', 1_000)).toBe(null)
    expect(readConfirmToken(SECRET, '', 'A-1', 1_000)).toBe(null)
  })
})
