import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PaidOnce } from '../src/paidonce.ts'
import { stripe } from '../src/providers/stripe/index.ts'
import type { Boundary } from '../src/settle/settle.ts'
import type { Database } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { openPostgres } from '../src/store/postgres.ts'
import { type Child, startChild } from './child.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import { deliverAll, TRAFFIC_SECRET, type Traffic, traffic } from './traffic.ts'
import { auditTraffic } from './traffic-audit.ts'

const BOUNDARIES: readonly Boundary[] = ['begun', 'recorded', 'locked', 'derived', 'written', 'committed']

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
    const options = {
      mode: 'test',
      endpoints: { stripe: stripe({ webhookSecrets: TRAFFIC_SECRET }) },
    } as const
    const silent = { verified() {}, refused() {}, answered() {}, fault() {} }
    const paidonce = new PaidOnce(options, database, { mode: 'test', buckets: 1, epoch: 1n }, silent)
    const items = [{ item: 'licence', quantity: 1 }]
    await paidonce.orders.register(
      orders.map((reference) => ({ reference, amount_minor: 2_000n, currency: 'USD', items })),
    )
  }

  async function events(): Promise<number> {
    const text = 'select count(*)::int as count from events'
    const [row] = await database.query<{ count: number }>({ name: '', text })
    return row!.count
  }

  async function audit(sent: Traffic): Promise<void> {
    const { found, wanted } = await auditTraffic(database, sent)
    expect(found).toEqual(wanted)
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
      // The next one starts while this one still serves.
      let next = startChild('receive', url)
      for (const delay_ms of delays) {
        const child = next
        port = Number(await child.line())
        next = startChild('receive', url)
        await new Promise((resolve) => setTimeout(resolve, delay_ms))
        port = undefined
        await child.kill()
        kills += 1
      }
      current = next
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
    await audit(sent)
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
    await audit(sent)
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
    await audit(sent)
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
      const before = await events()
      while ((await events()) < before + 100 && Date.now() < deadline) await new Promise(setImmediate)
      await postgres.stop('immediate')
      await postgres.start()
    }
    expect(await bursting).toBeGreaterThan(0)
    await child.kill()
    await audit(sent)
  })
})
