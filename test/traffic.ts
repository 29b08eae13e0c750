import { Agent, request } from 'node:http'
import { signStripe, stripeEvents } from '../src/providers/stripe/index.ts'

export const TRAFFIC_SECRET = 'whsec_Y3Jhc2gtdGVzdC1vZi1vdXJz'

export interface Traffic {
  readonly prefix: string
  readonly bodies: readonly string[]
  readonly orders: readonly string[]
}

/** What is sent: each payment told by three events, one of them twice, and every fourth is refunded. */
export function traffic(prefix: string, count: number): Traffic {
  const bodies: string[] = []
  const orders: string[] = []
  for (let index = 0; index < count; index += 1) {
    const order = `${prefix}-${index}`
    const sample = { payment: `pi_${prefix}_${index}`, amount_minor: 2_000n, order }
    orders.push(order)
    bodies.push(stripeEvents.paymentIntentCreated(sample), stripeEvents.chargeSucceeded(sample))
    bodies.push(stripeEvents.paymentIntentSucceeded(sample), stripeEvents.paymentIntentSucceeded(sample))
    if (index % 4 === 0) bodies.push(stripeEvents.refundCreated({ ...sample, status: 'succeeded' }))
  }
  return { prefix, bodies, orders }
}

/** Delivers once; null when the connection broke. */
export function deliver(port: number, body: string, agent: Agent): Promise<number | null> {
  return new Promise((resolve) => {
    const headers = {
      ...signStripe(body, TRAFFIC_SECRET, Date.now()),
      'content-length': Buffer.byteLength(body),
    }
    const sent = request({
      port,
      agent,
      host: '127.0.0.1',
      method: 'POST',
      path: '/webhooks/stripe',
      headers,
    })
    sent.on('response', (response) => {
      response.resume()
      response.on('close', () => resolve(response.complete ? (response.statusCode ?? null) : null))
    })
    sent.on('error', () => resolve(null))
    sent.setTimeout(20_000, () => sent.destroy())
    sent.end(body)
  })
}

/** Sends as a provider does: again, until it is answered with 200. Gives how often something else was answered. */
export async function deliverAll(bodies: readonly string[], ports: () => readonly number[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const queue = [...bodies]
  let failures = 0
  const sender = async () => {
    for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
      for (let attempt = 0; ; attempt += 1) {
        const known = ports()
        const status = known.length === 0 ? null : await deliver(known[attempt % known.length]!, body, agent)
        if (status === 200) break
        if (status !== null && status !== 503) throw new Error(`A delivery was answered with ${status}.`)
        failures += 1
        // Between two servers there is nobody to wait for but the clock.
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }
  await Promise.all(Array.from({ length: 16 }, sender))
  agent.destroy()
  return failures
}
