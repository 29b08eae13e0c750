import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop } from '../../test/stripe-shop.ts'
import { toy, toyPaid, toyPayment } from '../../test/toy-provider.ts'
import { paymentMilestone } from '../facts/payment.ts'
import type { LookupAnswer } from '../providers/lookup.ts'
import type { StartRequest } from '../providers/start.ts'
import { serve } from '../server/index.ts'
import type { Database } from '../store/database.ts'

const PENDING = { outcome: 'found', facts: [] } as const

/** A provider that sends buyers away, and whose return names the payment in `?pid=`. */
function away(database: Database, returnTo?: (back: { status: string; order: string | null }) => string) {
  const box = toy()
  const started: StartRequest[] = []
  const provider = {
    ...box.provider,
    start: async (request: StartRequest) => {
      started.push(request)
      const { order, amount_minor, currency, attempt } = request
      const facts = [
        paymentMilestone(toyPayment(attempt), { milestone: 'created', order, amount_minor, currency }),
      ]
      const redirect = { method: 'GET', url: `https://pay.example/${attempt}`, fields: {} } as const
      return { outcome: 'started', payment: attempt, facts, redirect } as const
    },
    readReturn: ({ query = '' }) => {
      const id = new URLSearchParams(query).get('pid')
      return id === null ? null : { lookup: { object: 'payment', id }, canceled: query.includes('canceled') }
    },
  }
  const endpoint = returnTo ? { provider, returnTo } : provider
  const options = { endpoints: { toy: endpoint }, public_url: 'https://shop.example/' }
  const { paidonce, order } = openShop(database, { options })
  const back = (query: string) =>
    paidonce.paymentReturn(
      { endpoint: 'toy', method: 'GET', headers: {}, body: Buffer.alloc(0), query },
      5_000,
    )
  const start = (reference: string) =>
    paidonce.startPayment({ endpoint: 'toy', order: reference, amount_minor: 2_000n, currency: 'USD' })
  return { ...box, paidonce, order, back, start, started }
}

withDatabases('a buyer who is sent away to pay', (open) => {
  it('P01 is believed only through the provider: amount and order are those stored before they left', async () => {
    const database = await open()
    const shop = away(database)
    await shop.order('A-1')
    const { payment, redirect } = await shop.start('A-1')
    expect(redirect.url).toBe(`https://pay.example/${payment}`)
    expect(shop.started[0]).toMatchObject({ return_url: 'https://shop.example/return/toy' })

    shop.api.answer = () => PENDING
    expect(await shop.back(`pid=${payment}&status=paid&amount=1`)).toEqual({
      status: 'pending',
      order: 'A-1',
      payment,
    })
    shop.api.answer = (id, expected) => toyPaid(id, expected!.amount_minor)
    expect(await shop.back(`pid=${payment}`)).toEqual({ status: 'paid', order: 'A-1', payment })
    expect(shop.api.asked.at(-1)?.expected).toMatchObject({
      amount_minor: 2_000n,
      currency: 'USD',
      order: 'A-1',
    })
    expect(await database.query({ name: '', text: 'select state from entitlements' })).toEqual([
      { state: 'granted' },
    ])
    // Once it is paid, coming back asks nobody.
    const asked = shop.api.asked.length
    expect((await shop.back(`pid=${payment}`)).status).toBe('paid')
    expect(shop.api.asked.length).toBe(asked)
  })

  it('P01 cannot use the return of another payment for their own order', async () => {
    const database = await open()
    const shop = away(database)
    for (const reference of ['A-1', 'A-2']) await shop.order(reference)
    const mine = await shop.start('A-1')
    await shop.start('A-2')
    shop.api.answer = (id): LookupAnswer => (id === mine.payment ? toyPaid(id, 2_000n) : PENDING)
    expect(await shop.back(`pid=${mine.payment}&order=A-2`)).toMatchObject({ status: 'paid', order: 'A-1' })
    const rows = await database.query({
      name: '',
      text: 'select o.reference from entitlements e join orders o on o.id = e.order_id',
    })
    expect(rows).toEqual([{ reference: 'A-1' }])
  })

  it.each([
    [{ outcome: 'not_found' }, 'canceled'],
    [{ outcome: 'unavailable', reason: 'away' }, 'pending'],
    [{ outcome: 'refused', reason: 'key revoked' }, 'pending'],
  ] as const)('is not told on a hint alone that nothing was charged: %j', async (told, status) => {
    const shop = away(await open())
    await shop.order('A-1')
    const { payment } = await shop.start('A-1')
    shop.api.answer = () => told
    expect(await shop.back(`pid=${payment}&canceled`)).toMatchObject({ status, order: 'A-1' })
  })

  it('is not told that nothing was charged while the provider is still at it', async () => {
    const shop = away(await open())
    await shop.order('A-1')
    const { payment } = await shop.start('A-1')
    const under_way = paymentMilestone(toyPayment(payment), { milestone: 'pending', order: 'A-1' })
    shop.api.answer = () => ({ outcome: 'found', facts: [under_way] })
    expect(await shop.back(`pid=${payment}&canceled`)).toMatchObject({ status: 'pending' })
  })

  it('P01 asks nobody about payments that were not started here', async () => {
    const shop = away(await open())
    for (const query of ['pid=made-up', 'nothing=1', ''])
      expect(await shop.back(query)).toEqual({ status: 'unknown', order: null, payment: null })
    expect(shop.api.asked).toEqual([])
  })

  it('P40 is found by a look-up when they never come back', async () => {
    const database = await open()
    const shop = away(database)
    await shop.order('A-1')
    await shop.start('A-1')
    shop.api.answer = (id) => toyPaid(id, 2_000n)
    expect(await database.query({ name: '', text: 'select asked_by from lookups' })).toEqual([
      { asked_by: 'start' },
    ])
    await database.query({ name: '', text: "update lookups set due_at = due_at - interval '11 minutes'" })
    expect(await shop.paidonce.lookups.runOnce()).toBe(1)
    expect(await database.query({ name: '', text: 'select state from entitlements' })).toEqual([
      { state: 'granted' },
    ])
  })

  it('refuses to start what makes no sense, before the provider hears of it', async () => {
    const shop = away(await open())
    const base = { endpoint: 'toy', order: 'A-1', amount_minor: 1n, currency: 'USD' }
    for (const [wrong, code] of [
      [{ endpoint: 'nowhere' }, 'not_found'],
      [{ amount_minor: 0n }, 'order_invalid'],
      [{ order: ' ' }, 'order_invalid'],
      [{ attempt: 'a/b' }, 'order_invalid'],
    ] as const)
      await expect(shop.paidonce.startPayment({ ...base, ...wrong })).rejects.toMatchObject({ code })
    expect(shop.started).toEqual([])
  })

  it('is sent on to the merchant’s page, or told in plain words', async () => {
    const database = await open()
    const shop = away(database, ({ status, order }) => `https://shop.example/orders/${order}?${status}`)
    const server = await serve(shop.paidonce, { port: 0 })
    const url = `http://127.0.0.1:${server.port}/return/toy`
    try {
      await shop.order('A-1')
      const { payment } = await shop.start('A-1')
      shop.api.answer = (id) => toyPaid(id, 2_000n)
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(`${url}?pid=${payment}`, { method, redirect: 'manual' })
        expect([answer.status, answer.headers.get('location')]).toEqual([
          303,
          'https://shop.example/orders/A-1?paid',
        ])
      }
    } finally {
      await server.close()
    }
    const plain = away(database)
    const plainServer = await serve(plain.paidonce, { port: 0 })
    try {
      const answer = await fetch(`http://127.0.0.1:${plainServer.port}/return/toy?pid=made-up`)
      expect([answer.status, await answer.text()]).toEqual([404, 'This payment is not known here.\n'])
      const odd = await fetch(`http://127.0.0.1:${plainServer.port}/return/%zz?pid=secret`)
      expect([odd.status, await odd.text()]).toEqual([400, '{"status":"refused"}'])
    } finally {
      await plainServer.close()
    }
  })
})
