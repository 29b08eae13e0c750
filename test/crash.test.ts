import { Agent, request } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PaidOnce } from '../src/paidonce.ts'
import { signStripe, stripe, stripeEvents } from '../src/providers/stripe/index.ts'
import type { Boundary } from '../src/settle/settle.ts'
import type { Database } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { openPostgres } from '../src/store/postgres.ts'
import { type Child, startChild } from './child.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'

const SECRET = 'whsec_Y3Jhc2gtdGVzdC1vZi1vdXJz'
const BOUNDARIES: readonly Boundary[] = ['begun', 'recorded', 'locked', 'derived', 'written', 'committed']

/** What is sent: each payment told by three events, some refunded, some delivered twice. */
function traffic(prefix: string, count: number): { bodies: string[]; orders: string[] } {
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
  return { bodies, orders }
}

/** Delivers once; null when the connection broke. */
function deliver(port: number, body: string, agent: Agent): Promise<number | null> {
  return new Promise((resolve) => {
    const headers = { ...signStripe(body, SECRET, Date.now()), 'content-length': Buffer.byteLength(body) }
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
async function deliverAll(bodies: readonly string[], ports: () => readonly number[]): Promise<number> {
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

describe('crashes', () => {
  let postgres: PostgresServer
  let database: Database
  let url: string

  beforeAll(async () => {
    postgres = await startPostgres()
    url = postgres.url()
    database = await openPostgres({ url, max: 3 })
    await migrate(database, { mode: 'test', now: new Date('2026-01-01T00:00:00Z') })
  })

  afterAll(async () => {
    await database.close()
    await postgres.remove()
  })

  async function register(orders: readonly string[]): Promise<void> {
    const options = { mode: 'test', endpoints: { stripe: stripe({ webhookSecrets: SECRET }) } } as const
    const silent = { verified() {}, refused() {}, answered() {}, fault() {} }
    const paidonce = new PaidOnce(options, database, { mode: 'test', buckets: 1, epoch: 1n }, silent)
    const items = [{ item: 'licence', quantity: 1 }]
    await paidonce.orders.register(
      orders.map((reference) => ({ reference, amount_minor: 2_000n, currency: 'USD', items })),
    )
  }

  async function count(from: string): Promise<number> {
    const text = `select count(*)::int as count from ${from}`
    const [row] = await database.query<{ count: number }>({ name: '', text })
    return row!.count
  }

  /** Zero lost, zero doubled, nothing half done. */
  async function audit(prefix: string, { bodies, orders }: ReturnType<typeof traffic>): Promise<void> {
    const mine = `like 'pi\\_${prefix}\\_%'`
    const refunded = orders.filter((_, index) => index % 4 === 0).length
    const of_orders = `join orders o on o.id = x.order_id and o.reference like '${prefix}-%'`
    const effects = `effects where subject_kind = 'order' and subject_key like '${prefix}-%'`
    const events = `events e where exists (select 1 from witnesses w join facts f on f.id = w.fact_id
      join payments p on p.id = f.subject_id where w.source_id = e.id and w.source_kind = 'event' and p.provider_payment_id ${mine})`
    expect({
      events: await count(events),
      payments: await count(`payments where provider_payment_id ${mine} and captured_minor = 2000`),
      refunds: await count(
        `refunds where provider_refund_id like 're\\_${prefix}\\_%' and status = 'succeeded'`,
      ),
      granted: await count(`entitlements x ${of_orders} where x.state = 'granted'`),
      taken_back: await count(
        `orders where reference like '${prefix}-%' and status = 'refunded' and net_minor = 0`,
      ),
      doubled: await count(
        `(select 1 from ${effects} and topic <> 'exception.opened' group by subject_key, topic, item, cause having count(*) > 1) d`,
      ),
      receipts: await count(
        `(select 1 from ${effects} and topic = 'receipt.due' group by subject_key having count(*) > 1) d`,
      ),
      unsettled: await count('unsettled'),
      orphans: await count('facts f where not exists (select 1 from witnesses w where w.fact_id = f.id)'),
      unsaid: await count(
        `entitlements x ${of_orders} where x.revision > 0 and not exists (select 1 from effects e where e.subject_id = o.id
         and e.item = x.item and e.revision = x.revision)`,
      ),
      lost: await count(
        `events e where e.state = 'settled' and not exists (select 1 from witnesses w where w.source_id = e.id)`,
      ),
    }).toEqual({
      events: new Set(bodies).size,
      payments: orders.length,
      refunds: refunded,
      granted: orders.length - refunded,
      taken_back: refunded,
      doubled: 0,
      receipts: 0,
      unsettled: 0,
      orphans: 0,
      unsaid: 0,
      lost: 0,
    })
  }

  it('P09 P11 P12 case-13 a server killed at random, 44 times, loses and doubles nothing', {
    timeout: 180_000,
  }, async () => {
    const sent = traffic('random', 900)
    await register(sent.orders)
    const delays = fc.sample(fc.integer({ min: 5, max: 120 }), { seed: 44, numRuns: 44 })
    let current: Child | undefined
    let port: number | undefined
    let kills = 0
    const killing = (async () => {
      for (const delay_ms of delays) {
        current = startChild('receive', url)
        port = Number(await current.line())
        await new Promise((resolve) => setTimeout(resolve, delay_ms))
        port = undefined
        await current.kill()
        kills += 1
      }
      current = startChild('receive', url)
      port = Number(await current.line())
    })()
    let calm = false
    killing.then(() => {
      calm = true
    })
    const ports = () => (port === undefined ? [] : [port])
    let failures = 0
    // While servers die there is traffic: what has been taken is sent again, as providers do.
    do failures += await deliverAll(sent.bodies, ports)
    while (!calm)
    await deliverAll(sent.bodies, ports)
    await current?.kill()
    expect(kills).toBe(44)
    expect(failures).toBeGreaterThan(0)
    await audit('random', sent)
  })

  it('P11 P12 a server that dies at each boundary of its transaction loses and doubles nothing', {
    timeout: 120_000,
  }, async () => {
    const sent = traffic('boundary', 120)
    await register(sent.orders)
    let current: Child | undefined
    let port: number | undefined
    const dying = (async () => {
      for (const boundary of BOUNDARIES) {
        current = startChild('receive', url, boundary, '3')
        port = Number(await current.line())
        await current.ended
        port = undefined
      }
      current = startChild('receive', url)
      port = Number(await current.line())
    })()
    // Each needs a few batches to die in, so the traffic comes again and again until the last one is there.
    let calm = false
    dying.then(() => {
      calm = true
    })
    const ports = () => (port === undefined ? [] : [port])
    do await deliverAll(sent.bodies, ports)
    while (!calm)
    await deliverAll(sent.bodies, ports)
    await current?.kill()
    await audit('boundary', sent)
  })

  it('P09 P10 two server processes that get everything at once do everything once', {
    timeout: 60_000,
  }, async () => {
    const sent = traffic('twice', 150)
    await register(sent.orders)
    const children = [startChild('receive', url), startChild('receive', url)]
    const ports = await Promise.all(children.map(async (child) => Number(await child.line())))
    const failures = await Promise.all(ports.map((port) => deliverAll(sent.bodies, () => [port])))
    for (const child of children) await child.kill()
    expect(failures).toEqual([0, 0])
    await audit('twice', sent)
  })

  it('P11 P12 a PostgreSQL that crashes in the middle of a burst loses nothing that was answered', {
    timeout: 60_000,
  }, async () => {
    const sent = traffic('power', 300)
    await register(sent.orders)
    const child = startChild('receive', url)
    const port = Number(await child.line())
    const bursting = deliverAll(sent.bodies, () => [port])
    for (let crash = 0; crash < 2; crash += 1) {
      const deadline = Date.now() + 10_000
      const before = await count('events')
      while ((await count('events')) < before + 100 && Date.now() < deadline) await new Promise(setImmediate)
      await postgres.stop('immediate')
      await postgres.start()
    }
    expect(await bursting).toBeGreaterThan(0)
    await child.kill()
    await audit('power', sent)
  })
})
