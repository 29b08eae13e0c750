import * as fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { withPostgres } from '../../test/database.ts'
import { sendRaw, statusOf } from '../../test/raw-socket.ts'
import { PaidOnce } from '../paidonce.ts'
import { hmac, type MessageReading, paymentMilestone, signHmac } from '../providers/hmac/index.ts'
import { signStripe, stripe, stripeEvents } from '../providers/stripe/index.ts'
import type { Database } from '../store/database.ts'
import { type RunningServer, serve } from './index.ts'

const SECRET = 'whsec_ZnV6emVkLWFuZC1wb2tlZA'
const sample = { payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' }
const EVENTS = [
  stripeEvents.paymentIntentSucceeded(sample),
  stripeEvents.chargeSucceeded(sample),
  stripeEvents.checkoutCompleted(sample),
  stripeEvents.disputeCreated(sample),
]
const scheme = {
  name: 'custom',
  secrets: SECRET,
  header: 'x-signature',
  algorithm: 'sha256',
  encoding: 'hex',
} as const

function open(database: Database): PaidOnce {
  const custom = hmac({
    ...scheme,
    // What a careless merchant writes: whatever stands in the body becomes a fact.
    translate: (payload, { payment }): MessageReading => {
      const told = payload as { id: never; event: never; amount: never; order: never }
      const content = {
        milestone: 'succeeded',
        amount_minor: told.amount,
        order: told.order,
        currency: 'USD',
      } as const
      return { event_id: told.event, facts: [paymentMilestone(payment(told.id), content)] }
    },
  })
  return new PaidOnce(
    { mode: 'test', endpoints: { stripe: stripe({ webhookSecrets: SECRET }), custom } },
    database,
    { mode: 'test', buckets: 1, epoch: 1n },
    { verified() {}, refused() {}, answered() {}, fault() {} },
  )
}

/** Text with everything that breaks parsers and databases: NUL, lone surrogates, controls, length. */
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff\ud800',
    '__proto__',
    'constructor',
    '\u202e',
    '"',
    '\\',
    "'; drop table events; --",
  ),
  fc
    .integer({ min: 200, max: 9_000 })
    .map((length) => Array.from({ length }, (_, index) => ((index * 7919) % 36).toString(36)).join('')),
)
const value = fc.oneof(
  nasty,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    [],
    {},
    -1,
    0,
    1.5,
    1e21,
    -1e308,
    2 ** 53,
    Number.MAX_SAFE_INTEGER + 2,
    99999999999999999999n.toString(),
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

/** An authentic event with some of its values replaced, wherever they stand. */
const mutated = fc
  .tuple(
    fc.constantFrom(...EVENTS),
    fc.array(fc.tuple(fc.nat({ max: 200 }), value), { minLength: 1, maxLength: 6 }),
  )
  .map(([event, changes]) => {
    const tree = JSON.parse(event) as unknown
    for (const [index, replacement] of changes) replaceLeaf(tree, index, replacement)
    return Buffer.from(JSON.stringify(tree))
  })
const custom = fc
  .record({ id: value, event: value, amount: value, order: value })
  .map((payload) => Buffer.from(JSON.stringify(payload)))
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
const body = fc.oneof(
  mutated,
  bytes,
  custom,
  nasty.map((text) => Buffer.from(text)),
)

function replaceLeaf(tree: unknown, index: number, replacement: unknown): void {
  const places: [Record<string, unknown>, string][] = []
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return
    for (const name of Object.keys(node)) {
      places.push([node as Record<string, unknown>, name])
      visit((node as Record<string, unknown>)[name])
    }
  }
  visit(tree)
  const [parent, name] = places[index % places.length]!
  Object.defineProperty(parent, name, {
    value: replacement,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

const header = fc.oneof(
  nasty,
  fc.constantFrom(
    't=1,v1=00',
    't=,v1=',
    'v1=',
    't=99999999999999999999,v1=00',
    `t=1,v1=${'0'.repeat(64)}`,
    ','.repeat(9_000),
  ),
)

withPostgres('ten thousand odd deliveries', (openDatabase) => {
  let server: RunningServer | undefined
  afterAll(() => server?.close())

  it('P04 P30 authentic ones are all answered with 200 and kept with their bytes', {
    timeout: 120_000,
  }, async () => {
    const database = await openDatabase()
    const paidonce = open(database)
    const keys = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(body, { minLength: 40, maxLength: 60 }),
        fc.boolean(),
        async (bodies, toStripe) => {
          const answers = await Promise.all(
            bodies.map((raw) => {
              keys.add(`${toStripe} ${raw.toString('hex')}`)
              const headers = toStripe
                ? signStripe(raw, SECRET, Date.now())
                : signHmac(scheme, raw, SECRET, Date.now())
              return paidonce.receive({
                endpoint: toStripe ? 'stripe' : 'custom',
                method: 'POST',
                headers: lower(headers),
                body: raw,
              })
            }),
          )
          for (const [index, { status }] of answers.entries()) {
            expect(status, bodies[index]!.toString('utf8').slice(0, 400)).toBe(200)
          }
        },
      ),
      { numRuns: 100 },
    )
    const stored = `select encode(body, 'hex') as body from events union select encode(body, 'hex') from event_versions`
    const rows = await database.query<{ body: string }>({ name: '', text: stored })
    const kept = new Set(rows.map((row) => row.body))
    for (const key of keys) expect(kept.has(key.split(' ')[1]!)).toBe(true)
  })

  it('P04 unverified ones are all refused, and leave no row', { timeout: 120_000 }, async () => {
    const database = await openDatabase()
    const paidonce = open(database)
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(body, fc.option(header), fc.constantFrom('stripe', 'custom', 'none', '__proto__')),
          { minLength: 40, maxLength: 60 },
        ),
        async (deliveries) => {
          const answers = await Promise.all(
            deliveries.map(([raw, signature, endpoint]) => {
              const headers =
                signature === null ? {} : { 'stripe-signature': signature, 'x-signature': signature }
              return paidonce.receive({ endpoint, method: 'POST', headers, body: raw })
            }),
          )
          for (const { status } of answers) expect([401, 404]).toContain(status)
        },
      ),
      { numRuns: 100 },
    )
    await paidonce.watch.written()
    for (const table of ['events', 'facts', 'payments', 'orders', 'witnesses', 'unsettled', 'event_copies']) {
      expect(await database.query({ name: '', text: `select 1 from ${table} limit 1` }), table).toEqual([])
    }
  })

  it('P04 P07 malformed HTTP is never answered with 500, and the next good delivery works', {
    timeout: 120_000,
  }, async () => {
    const database = await openDatabase()
    server = await serve(open(database), { port: 0 })
    const { port } = server
    const good = EVENTS[0]!
    const signature = signStripe(good, SECRET, Date.now())['stripe-signature']!
    const deliver = () =>
      sendRaw(port, [
        `POST /webhooks/stripe HTTP/1.1\r\nhost: x\r\nstripe-signature: ${signature}\r\ncontent-length: ${Buffer.byteLength(good)}\r\n\r\n${good}`,
      ])
    const head = 'POST /webhooks/stripe HTTP/1.1\r\nhost: x\r\n'
    const broken = [
      'nonsense\r\n\r\n',
      `${head}content-length: -1\r\n\r\n`,
      `${head}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`,
      `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${head}transfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`,
      `${head}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      `${head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      `${head}stripe-signature: ${'x'.repeat(100_000)}\r\n\r\n`,
      `${head}expect: 100-continue\r\ncontent-length: 0\r\n\r\n`,
      `${head}upgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
      `${head}content-type: \u0001\r\ncontent-length: 0\r\n\r\n`,
      'POST /webhooks/stripe HTTP/9.9\r\n\r\n',
      'POST /webhooks/stripe HTTP/1.1\r\ncontent-length: 0\r\n\r\n',
      'POST /webhooks/%00%ff HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n',
      `POST /webhooks/${'y'.repeat(10_000)} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`,
      'PROPFIND /webhooks/stripe HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET http://elsewhere/webhooks/stripe HTTP/1.1\r\nhost: x\r\n\r\n',
      '\u0000\u0001\u0002\r\n\r\n',
    ]
    for (const request of broken) {
      const status = statusOf(await sendRaw(port, [request], { hang_up: true }))
      if (status !== null) expect(status, request.slice(0, 80)).toBeLessThan(500)
    }
    const noise = fc.uint8Array({ minLength: 1, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(noise, fc.boolean(), async (array, inBody) => {
        const start = inBody ? `${head}content-length: 200\r\n\r\n` : head
        const status = statusOf(await sendRaw(port, [start, Buffer.from(array)], { hang_up: true }))
        if (status !== null) expect(status).toBeLessThan(500)
      }),
      { numRuns: 300 },
    )
    expect(await database.query({ name: '', text: 'select 1 from events' })).toEqual([])
    expect(statusOf(await deliver())).toBe(200)
    expect(await database.query({ name: '', text: 'select 1 as one from payments' })).toEqual([{ one: 1 }])
  })
})

function lower(headers: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]))
}
