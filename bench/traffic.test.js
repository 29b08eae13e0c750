import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { authentic } from './receivers/signature.js'
import { amountOf, deliveries, paymentIdOf, referenceOf } from './traffic.js'

const take = (stream, count) => Array.from({ length: count }, () => stream.next().value)
const SECRET = 'whsec_traffic'

describe('traffic', () => {
  it('gives bodies of about 1.3 kB that parse and name their payment, order and amount', () => {
    for (const shape of ['single', 'mixed']) {
      const some = take(deliveries({ secret: SECRET, shape, first: 500 }), 400)
      const mean = some.reduce((sum, { body }) => sum + body.length, 0) / some.length
      expect(mean).toBeGreaterThan(1_200)
      expect(mean).toBeLessThan(1_400)
      for (const { event, order, body } of some) {
        const { id, livemode, data } = JSON.parse(body)
        expect(id).toBe(event)
        expect(livemode).toBe(true)
        expect(data.object.payment_intent ?? data.object.id).toBe(paymentIdOf(order))
        expect(data.object.metadata.order_id).toBe(referenceOf(order))
        expect(data.object.amount_total ?? data.object.amount).toBe(amountOf(order))
      }
    }
  })

  it('signs as Stripe does, and forgeries are refused', () => {
    const [good] = take(deliveries({ secret: SECRET, shape: 'single' }), 1)
    const [, time, hex] = good.signature.match(/^t=(\d+),v1=([0-9a-f]{64})$/)
    expect(createHmac('sha256', SECRET).update(`${time}.${good.body}`).digest('hex')).toBe(hex)
    expect(authentic(Buffer.from(good.body), good.signature, SECRET)).toBe(true)
    expect(authentic(Buffer.from(`${good.body} `), good.signature, SECRET)).toBe(false)
    const [forged] = take(deliveries({ secret: SECRET, shape: 'single', forged: true }), 1)
    expect(authentic(Buffer.from(forged.body), forged.signature, SECRET)).toBe(false)
  })

  it('refuses a signature that is old, malformed or missing', () => {
    const body = Buffer.from('{}')
    const old = Math.floor(Date.now() / 1000) - 301
    const hex = createHmac('sha256', SECRET).update(`${old}.{}`).digest('hex')
    for (const header of [`t=${old},v1=${hex}`, 't=,v1=', 'v1', '', undefined]) {
      expect(authentic(body, header, SECRET)).toBe(false)
    }
  })

  it('sends four events per payment in mixed traffic, one delivery in five a copy, not in order', () => {
    const some = take(deliveries({ secret: SECRET, shape: 'mixed' }), 10_000)
    const fresh = new Map(some.map((delivery) => [delivery.event, delivery]))
    expect((some.length - fresh.size) / some.length).toBeCloseTo(0.2, 1)
    expect(fresh.size / new Set(some.map(({ order }) => order)).size).toBeCloseTo(4, 1)
    const types = some.map(({ body }) => JSON.parse(body).type)
    const late = types.findIndex(
      (type, i) => i > 0 && type === 'payment_intent.created' && some[i - 1].order === some[i].order,
    )
    expect(late).toBeGreaterThan(0)
  })

  it('gives the same stream for the same arguments, with no id twice among single events', () => {
    const ids = (options) => take(deliveries({ secret: SECRET, ...options }), 5_000).map(({ event }) => event)
    for (const shape of ['single', 'mixed']) expect(ids({ shape })).toEqual(ids({ shape }))
    expect(new Set(ids({ shape: 'single' })).size).toBe(5_000)
  })
})
