import Stripe from 'stripe'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { withDatabases, withPostgres } from '../../test/database.ts'
import { startPostgres } from '../../test/postgres.ts'
import { sendRaw, statusOf } from '../../test/raw-socket.ts'
import type { PaidOnceOptions } from '../options.ts'
import { createPaidOnce, PaidOnce } from '../paidonce.ts'
import { type StripeOptions, stripe, stripeEvents } from '../providers/stripe/index.ts'
import type { Database } from '../store/database.ts'
import { type RunningServer, serve } from './index.ts'

const SECRET = 'whsec_b25lLW9mLXRoZS10ZXN0cw'
const OTHER = 'whsec_YW5vdGhlci1vbmUtaGVyZQ'
const sdk = new Stripe('sk_test_not_used')
const running: RunningServer[] = []

interface Place {
  readonly paidonce: PaidOnce
  readonly server: RunningServer
  /** Delivers a body with these headers. */
  post(body: string | Uint8Array, headers?: Record<string, string>, path?: string): Promise<Response>
  /** Delivers a body that the official SDK signs. */
  deliver(body: string, secret?: string, timestamp?: number): Promise<Response>
  count(from: string): Promise<number>
}

async function place(
  database: Database,
  options: Partial<PaidOnceOptions> & { provider?: Partial<StripeOptions>; installed?: 'live' | 'test' } = {},
): Promise<Place> {
  const { provider, installed = 'test', ...more } = options
  const endpoints = { stripe: stripe({ webhookSecrets: SECRET, ...provider }) }
  const paidonce = new PaidOnce(
    { mode: installed, endpoints, ...more },
    database,
    { mode: installed, buckets: 1, epoch: 1n },
    { verified() {}, refused() {}, answered() {}, fault() {} },
  )
  return served(paidonce)
}

async function served(paidonce: PaidOnce): Promise<Place> {
  const server = await serve(paidonce, { port: 0 })
  running.push(server)
  const post: Place['post'] = (body, headers = {}, path = '/webhooks/stripe') =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', body: body as string, headers })
  return {
    paidonce,
    server,
    post,
    deliver: (body, secret = SECRET, timestamp) =>
      post(body, { 'stripe-signature': sign(body, secret, timestamp) }),
    count: async (from) => {
      const text = `select count(*)::int as count from ${from}`
      const [row] = await paidonce.database.query<{ count: number }>({ name: '', text })
      return row!.count
    },
  }
}

function sign(payload: string, secret = SECRET, timestamp?: number): string {
  const at = timestamp === undefined ? {} : { timestamp }
  return sdk.webhooks.generateTestHeaderString({ payload, secret, ...at })
}

const sample = { payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' }
const paid = stripeEvents.paymentIntentSucceeded(sample)
const ORDER = {
  reference: 'A-1',
  amount_minor: 2_000n,
  currency: 'USD',
  items: [{ item: 'licence', quantity: 1 }],
}
const GRANTED = `entitlements where state = 'granted'`

afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

withDatabases('a server', (open) => {
  it('P12 P15 grants an order for what the official SDK signed, and says nothing about it', async () => {
    const here = await place(await open())
    await here.paidonce.orders.register(ORDER)
    const bodies = [
      paid,
      stripeEvents.chargeSucceeded(sample),
      stripeEvents.checkoutCompleted(sample),
      stripeEvents.paymentIntentCreated(sample),
    ]
    for (const body of bodies) {
      const answer = await here.deliver(body)
      expect([answer.status, await answer.text()]).toEqual([200, '{"status":"ok"}'])
    }
    expect(await here.count(GRANTED)).toBe(1)
    expect(await here.count('payments')).toBe(1)
    expect(await here.count(`effects where topic = 'entitlement.changed'`)).toBe(1)
    const again = await here.deliver(paid)
    expect([again.status, await again.text()]).toEqual([200, '{"status":"duplicate"}'])
  })

  it('keeps an idle connection longer than the proxy before it, so that no delivery meets a closing one', async () => {
    const { server } = await place(await open())
    expect(server.app.server.keepAliveTimeout).toBeGreaterThan(60_000)
  })

  it('P02 case-01 case-02 reads exactly the bytes received, and stores them', async () => {
    const here = await place(await open())
    const spaced = JSON.stringify(JSON.parse(paid), null, 2)
    const bodies = [spaced, `\ufeff${paid.replace('pi_1', 'pi_2')}`, `${spaced.replaceAll('\n', '\r\n')}\r\n`]
    const named = stripeEvents.paymentIntentSucceeded({
      ...sample,
      order: '\u00c6r\u00f8 \u0141\u00f3d\u017a \u{1f600}',
    })
    const sent = [...bodies, named].map((body, index) => body.replace(/"evt_[^"]+"/, `"evt_${index}"`))
    for (const body of sent) {
      const headers = {
        'stripe-signature': sign(body),
        'content-type': 'application/json; charset=iso-8859-1',
      }
      expect((await here.post(body, headers)).status).toBe(200)
      for (const changed of [
        `${body} `,
        `${body}\n`,
        body.replace('2000', '2001'),
        JSON.stringify(JSON.parse(body.replace('\ufeff', ''))).slice(0, -1),
      ]) {
        expect((await here.post(changed, { 'stripe-signature': sign(body) })).status).toBe(401)
      }
    }
    const rows = await here.paidonce.database.query<{ body: Buffer }>({
      name: '',
      text: 'select body from events order by event_key',
    })
    expect(rows.map(({ body }) => body.toString())).toEqual(sent)
    expect(await here.count(`events where state <> 'settled'`)).toBe(0)
  })

  it('P03 case-03 refuses what is signed too long ago or ahead, with the documented tolerance', async () => {
    const here = await place(await open())
    const now = Math.floor(Date.now() / 1000)
    for (const [offset, status] of [
      [-290, 200],
      [-310, 401],
      [290, 200],
      [310, 401],
      [now * 999, 401],
    ] as const) {
      expect((await here.deliver(paid, SECRET, now + offset)).status).toBe(status)
    }
    expect(await here.count('events')).toBe(1)
  })

  it('P04 case-05 refuses every odd signature header, stores nothing and goes on', async () => {
    const here = await place(await open())
    const good = sign(paid)
    const hex = good.split('v1=')[1]!
    const stamp = good.split(',')[0]!
    const odd = ['', ' ', 'x', stamp, `v1=${hex}`, `${stamp},v1=`, `${stamp},v0=${hex}`, `t=,v1=${hex}`]
    odd.push(`${stamp},v1=${hex.slice(1)}`, `${stamp},v1=${hex}0`, `${stamp},v1=${'z'.repeat(64)}`)
    odd.push(
      `${stamp},v1=${hex.slice(2)}\u00e9`,
      `t=12abc,v1=${hex}`,
      `${stamp} v1=${hex}`,
      ','.repeat(5_000),
    )
    expect((await here.post(paid)).status).toBe(401)
    for (const header of odd) {
      const answer = await here.post(paid, { 'stripe-signature': header })
      expect([answer.status, await answer.text()], header).toEqual([401, '{"status":"refused"}'])
    }
    expect(await here.count('events')).toBe(0)
    const wrong = `${stamp},v1=${'0'.repeat(64)}`
    const lines = (...headers: string[]) => [
      `POST /webhooks/stripe HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(paid)}\r\n`,
      ...headers.map((header) => `Stripe-Signature: ${header}\r\n`),
      `\r\n${paid}`,
    ]
    expect(statusOf(await sendRaw(here.server.port, lines(wrong, wrong)))).toBe(401)
    expect(statusOf(await sendRaw(here.server.port, lines(wrong, good)))).toBe(200)
    expect(statusOf(await sendRaw(here.server.port, lines(good.replace(hex, hex.toUpperCase()))))).toBe(200)
  })

  it('P05 case-04 takes several secrets at once and records which one matched', async () => {
    const webhookSecrets = [
      { secret: SECRET, label: 'new' },
      { secret: `${OTHER}\n`, label: 'old' },
    ] as never
    const here = await place(await open(), { provider: { webhookSecrets } })
    expect((await here.deliver(paid, OTHER)).status).toBe(200)
    expect((await here.deliver(stripeEvents.chargeSucceeded(sample), SECRET)).status).toBe(200)
    expect((await here.deliver(stripeEvents.paymentIntentCreated(sample), 'whsec_bm9uZQ')).status).toBe(401)
    expect(await here.count(`events where secret_label = 'old'`)).toBe(1)
    expect(await here.count(`events where secret_label = 'new'`)).toBe(1)
  })

  it('P07 case-08 takes 1 MiB and not a byte more, announced or not, without reading on', async () => {
    const here = await place(await open())
    const limit = 1024 * 1024
    const largest = padded(paid, limit)
    expect((await here.deliver(largest)).status).toBe(200)
    const beyond = padded(paid, limit + 1)
    expect((await here.deliver(beyond)).status).toBe(413)
    const announced = `POST /webhooks/stripe HTTP/1.1\r\nhost: x\r\ncontent-length: 9999999999\r\n\r\n`
    expect(statusOf(await sendRaw(here.server.port, [announced]))).toBe(413)
    let written = 0
    function* endless() {
      yield 'POST /webhooks/stripe HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
      const chunk = Buffer.alloc(64 * 1024, 'x')
      for (let sent = 0; sent < 1024; sent += 1) {
        written += chunk.length
        yield `${chunk.length.toString(16)}\r\n`
        yield chunk
        yield '\r\n'
      }
    }
    const before = process.memoryUsage().rss
    expect(statusOf(await sendRaw(here.server.port, endless()))).toBe(413)
    expect(written).toBeLessThan(32 * limit)
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * limit)
    expect((await here.deliver(stripeEvents.chargeSucceeded(sample))).status).toBe(200)
    expect(await here.count('events')).toBe(2)
  })

  it('P13 case-11 keeps events without an id apart, raises once and never takes one for another', async () => {
    const here = await place(await open())
    const blank = (payment: string) =>
      stripeEvents.paymentIntentSucceeded({ ...sample, payment }).replace(/"evt_[^"]+"/, '""')
    const missing = blank('pi_3').replace('"id":"",', '')
    for (const body of [blank('pi_1'), blank('pi_2'), missing, missing]) {
      expect((await here.deliver(body)).status).toBe(200)
    }
    expect(await here.count(`events where key_kind = 'digest' and state = 'unreadable'`)).toBe(3)
    expect(await here.count(`exceptions where kind = 'event_without_id'`)).toBe(1)
    expect(await here.count('payments')).toBe(0)
  })

  it('P27 P30 case-10 keeps what is not ours, of unknown type or not to be read, each with its reason', async () => {
    const pattern = { pattern: /^A-/ }
    const here = await place(await open(), { provider: { orderReference: pattern } })
    await here.paidonce.orders.register(ORDER)
    const foreign = stripeEvents.paymentIntentSucceeded({ ...sample, payment: 'pi_2', order: 'other-shop-1' })
    const unknown = paid
      .replace('payment_intent.succeeded', 'brand_new.thing')
      .replace(/"evt_[^"]+"/, '"evt_new"')
    expect((await here.deliver(foreign)).status).toBe(200)
    expect((await here.deliver(unknown)).status).toBe(200)
    expect(await here.count(`events where state = 'ignored' and reason <> ''`)).toBe(2)
    expect(await here.count('exceptions')).toBe(0)
    for (const body of [
      '',
      'null',
      '[]',
      '"x"',
      '{',
      '{"id":"evt_x"}',
      '\u0000',
      'NaN',
      '[1,2',
      '{"id":{},"type":[]}',
    ]) {
      expect((await here.deliver(body)).status, body).toBe(200)
    }
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0xc3])
    const signature = sdk.webhooks.generateTestHeaderString({
      payload: bytes.toString('latin1'),
      secret: SECRET,
    })
    expect((await here.post(bytes, { 'stripe-signature': signature })).status).toBe(401)
    expect(await here.count(`events where state = 'unreadable' and body is not null`)).toBe(10)
    expect(await here.count('payments')).toBe(0)
  })

  it('P28 acknowledges and keeps test events at a live endpoint, and does nothing', async () => {
    const here = await place(await open(), { installed: 'live' })
    await here.paidonce.orders.register(ORDER)
    expect((await here.deliver(paid)).status).toBe(200)
    expect(await here.count(`events where state = 'ignored' and reason = 'test mode'`)).toBe(1)
    expect(await here.count('payments')).toBe(0)
    expect(await here.count('effects')).toBe(0)
    expect((await here.deliver(stripeEvents.paymentIntentSucceeded({ ...sample, live: true }))).status).toBe(
      200,
    )
    expect(await here.count(GRANTED)).toBe(1)
  })

  it('P28 raises live events at a test endpoint, and does not settle them', async () => {
    const here = await place(await open())
    expect((await here.deliver(stripeEvents.paymentIntentSucceeded({ ...sample, live: true }))).status).toBe(
      200,
    )
    expect(await here.count(`exceptions where kind = 'event_misdirected' and severity = 'urgent'`)).toBe(1)
    expect(await here.count('payments')).toBe(0)
  })

  it.each([{ account: 'berlin', connectedAccount: 'acct_1' }, { connectedAccount: 'acct_1' }])(
    'P29 case-49 keeps the event of another connected account, and does not settle it: $account',
    async (provider) => {
      const here = await place(await open(), { provider })
      await here.paidonce.orders.register(ORDER)
      const foreign = stripeEvents.paymentIntentSucceeded({ ...sample, account: 'acct_2' })
      expect((await here.deliver(foreign)).status).toBe(200)
      expect((await here.deliver(paid.replace(/"evt_[^"]+"/, '"evt_platform"'))).status).toBe(200)
      expect(await here.count(`events where state = 'misdirected'`)).toBe(2)
      expect(await here.count('payments')).toBe(0)
      const own = stripeEvents.paymentIntentSucceeded({ ...sample, account: 'acct_1', event: 'evt_own' })
      expect((await here.deliver(own)).status).toBe(200)
      expect(await here.count(GRANTED)).toBe(1)
    },
  )

  it('P17 case-33 compares with the order on file: number, amount, currency, account', async () => {
    const here = await place(await open())
    const orders = ['A', 'B', 'C', 'D'].map((reference) => ({ ...ORDER, reference }))
    await here.paidonce.orders.register([
      ...orders.slice(0, 3),
      { ...orders[3]!, account: 'another account' },
    ])
    const tell = (order: string, more: object) =>
      here.deliver(stripeEvents.paymentIntentSucceeded({ ...sample, payment: `pi_${order}`, order, ...more }))
    await tell('A', { amount_minor: 1_999n })
    await tell('B', { currency: 'EUR' })
    await tell('C', { currency: 'JPY', amount_minor: 2_000n })
    await tell('D', {})
    await tell('unknown', {})
    expect(await here.count('entitlements')).toBe(0)
    expect(await here.count('payments')).toBe(5)
    const kinds = `(select distinct kind from exceptions where state = 'open') k`
    expect(
      await here.count(
        `${kinds} where kind in ('underpayment', 'currency_mismatch', 'account_mismatch', 'unknown_order')`,
      ),
    ).toBe(4)
    await tell('A2', { payment: 'pi_A2', order: 'A', amount_minor: 1n })
    expect(await here.count(GRANTED)).toBe(1)
  })

  it('P47 stores events of types that the endpoint does not expect, and they cause nothing', async () => {
    const here = await place(await open(), { provider: { expects: ['payment_intent.succeeded'] } })
    expect((await here.deliver(stripeEvents.chargeSucceeded(sample))).status).toBe(200)
    expect(await here.count(`events where state = 'ignored'`)).toBe(1)
    expect(await here.count('payments')).toBe(0)
    expect((await here.deliver(paid)).status).toBe(200)
    expect(await here.count('payments')).toBe(1)
  })

  it('case-08 answers paths and methods that are wrong, and both spellings of the right path without a redirect', async () => {
    const here = await place(await open())
    const base = `http://127.0.0.1:${here.server.port}`
    const headers = { 'stripe-signature': sign(paid) }
    for (const path of ['/webhooks/stripe/', '//webhooks//stripe', '/webhooks/stripe?retry=1']) {
      expect((await here.post(paid, headers, path)).status, path).toBe(200)
    }
    for (const path of [
      '/webhooks/other',
      '/webhooks',
      '/webhooks/',
      '/',
      '/webhooks/stripe/more',
      '/webhooks/%zz',
      '/webhooks/__proto__',
      '/webhooks/constructor',
    ]) {
      expect((await here.post(paid, headers, path)).status, path).toBeGreaterThanOrEqual(400)
      expect((await here.post(paid, headers, path)).status, path).toBeLessThan(500)
    }
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await fetch(`${base}/webhooks/stripe`, { method })
      expect([answer.status, answer.headers.get('allow')], method).toEqual([405, 'POST'])
    }
    expect((await fetch(`${base}/healthz`)).status).toBe(200)
    expect((await fetch(`${base}/readyz`)).status).toBe(200)
    expect(await here.count('events')).toBe(1)
  })
})

/** The same event, filled up with white space to this many bytes. */
function padded(body: string, size: number): string {
  return body + ' '.repeat(size - Buffer.byteLength(body))
}

withDatabases('what a server logs', (open) => {
  const written: string[] = []
  beforeEach(() => {
    written.length = 0
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, 'write').mockImplementation((chunk) => {
        written.push(String(chunk))
        return true
      })
    }
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('P45 holds no secret, no signature and no payload, whatever goes wrong', async () => {
    const lines: string[] = []
    const seen: unknown[] = []
    const database = await open()
    const paidonce = new PaidOnce(
      {
        mode: 'test',
        endpoints: { stripe: stripe({ webhookSecrets: [SECRET, OTHER] }) },
        log: (...line) => lines.push(JSON.stringify(line)),
        onEntitlement: () => {
          throw new Error('the hook fails')
        },
      },
      database,
      { mode: 'test', buckets: 1, epoch: 1n },
      {
        verified: (_endpoint, ...told) => void seen.push(told),
        refused: (...told) => void seen.push(told),
        answered: (...told) => void seen.push(told),
        fault: (endpoint, fault) => void seen.push([endpoint, fault.code, fault.message]),
      },
    )
    const here = await served(paidonce)
    await paidonce.orders.register(ORDER)
    const marked = paid.replace('"receipt_email":null', '"receipt_email":"buyer@example.com"')
    expect(marked).toContain('buyer@example.com')
    const signature = sign(marked)
    await here.deliver(marked)
    await here.deliver(marked, 'whsec_d3Jvbmcgb25l')
    await here.post(marked)
    await here.post(marked, { 'stripe-signature': signature.replace('v1=', 'v1=00') })
    for (let count = 0; count < 25; count += 1) await here.deliver(`${marked} `, 'whsec_d3Jvbmcgb25l')
    await here.deliver(`{"broken buyer@example.com`)
    await here.deliver(padded(marked, 1024 * 1024 + 1))
    await database.script('alter table events rename to events_away')
    try {
      expect((await here.deliver(marked.replace(/"evt_[^"]+"/, '"evt_2"'))).status).toBe(503)
    } finally {
      await database.script('alter table events_away rename to events')
    }
    await paidonce.watch.written()
    const all = [...lines, ...written, JSON.stringify(seen)].join('\n')
    expect(seen.length).toBeGreaterThan(25)
    expect(lines.length).toBeGreaterThan(0)
    for (const secret of [
      SECRET,
      OTHER,
      signature.split('v1=')[1]!,
      'buyer@example.com',
      'payment_method_types',
    ]) {
      expect(all).not.toContain(secret)
    }
    const kept = await database.query<{ message: string }>({
      name: '',
      text: 'select message from exceptions',
    })
    expect(kept.map(({ message }) => message).join('\n')).not.toMatch(/buyer@example|whsec_/)
  })
})

withPostgres('several servers on one database', (open) => {
  it('P09 P10 case-12 case-15 the same event on many connections has one effect, and every answer is 200', async () => {
    const places = [
      await place(await open()),
      await place(await open({ apart: true, max: 4 })),
      await place(await open({ apart: true, max: 4 })),
    ]
    const [first] = places as [Place]
    for (let round = 0; round < 10; round += 1) {
      const order = { ...ORDER, reference: `R-${round}` }
      await first.paidonce.orders.register(order)
      const body = stripeEvents.paymentIntentSucceeded({
        payment: `pi_${round}`,
        amount_minor: 2_000n,
        order: order.reference,
      })
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, index) => places[index % places.length]!.deliver(body)),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      const words = await Promise.all(answers.map((answer) => answer.text()))
      expect(words.filter((word) => word === '{"status":"ok"}')).toHaveLength(1)
    }
    expect(await first.count(GRANTED)).toBe(10)
    expect(await first.count('events')).toBe(10)
    expect(await first.count(`effects where topic = 'entitlement.changed'`)).toBe(10)
    expect(await first.count('(select sum(copies) as copies from event_copies) c where copies = 230')).toBe(1)
  })

  it('P49 answers within the limit of the provider under load, whatever its effects are doing', async () => {
    const database = await open()
    const here = await place(database, { effects: { '*': () => new Promise(() => undefined) } })
    const work = await here.paidonce.startWork()
    try {
      const bodies = Array.from({ length: 1_500 }, (_, index) => {
        const order = `L-${index % 300}`
        return stripeEvents.paymentIntentSucceeded({ payment: `pi_${index}`, amount_minor: 2_000n, order })
      })
      await here.paidonce.orders.register(
        Array.from({ length: 300 }, (_, index) => ({ ...ORDER, reference: `L-${index}` })),
      )
      const took: number[] = []
      const queue = [...bodies]
      const sender = async () => {
        for (let body = queue.pop(); body !== undefined; body = queue.pop()) {
          const began = performance.now()
          expect((await here.deliver(body)).status).toBe(200)
          took.push(performance.now() - began)
        }
      }
      await Promise.all(Array.from({ length: 64 }, sender))
      expect(took).toHaveLength(1_500)
      expect(Math.max(...took)).toBeLessThan(5_000)
      expect(await here.count(GRANTED)).toBe(300)
    } finally {
      await work.stop(0)
    }
  })

  it('P12 P49 asks to deliver again when it does not know in time, and the work that went on is a duplicate then', async () => {
    const database = await open()
    const here = await place(database, { limits: { answer_limit_ms: 200, batch_lock_timeout_ms: 10_000 } })
    await here.paidonce.orders.register(ORDER)
    const holder = await database.begin()
    await holder.query({ name: '', text: 'lock table events in exclusive mode' })
    const late = await here.deliver(paid)
    expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([503, true])
    await holder.rollback()
    const again = await here.deliver(paid)
    expect(again.status).toBe(200)
    expect(await here.count(GRANTED)).toBe(1)
    expect(await here.count('events')).toBe(1)
  })

  it('P12 refuses more than it may hold at once, and takes it later', async () => {
    const database = await open()
    const here = await place(database, { limits: { queue_max: 3, batch_lock_timeout_ms: 10_000 } })
    const holder = await database.begin()
    await holder.query({ name: '', text: 'lock table events in exclusive mode' })
    const bodies = Array.from({ length: 6 }, (_, index) => paid.replace(/"evt_[^"]+"/, `"evt_${index}"`))
    const answers = bodies.map((body) => here.deliver(body))
    const first = await Promise.race(answers)
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '5'])
    await holder.rollback()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    for (const body of bodies) expect((await here.deliver(body)).status).toBe(200)
    expect(await here.count('events')).toBe(6)
  })
})

describe('a database that goes away', () => {
  it('P12 is answered with 503 and Retry-After, and nothing is lost once it is back', {
    timeout: 60_000,
  }, async () => {
    // With durable commits: what was answered with 200 has to be there after a crash.
    const postgres = await startPostgres()
    try {
      const endpoints = { stripe: stripe({ webhookSecrets: SECRET }) }
      const here = await served(await createPaidOnce({ mode: 'test', database: postgres.url(), endpoints }))
      await here.paidonce.orders.register(ORDER)
      expect((await here.deliver(stripeEvents.paymentIntentCreated(sample))).status).toBe(200)
      await postgres.stop('immediate')
      for (let count = 0; count < 20; count += 1) {
        const answer = await here.deliver(paid)
        expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([503, true])
      }
      const ready = await fetch(`http://127.0.0.1:${here.server.port}/readyz`)
      expect(ready.status).toBe(503)
      await postgres.start()
      expect((await here.deliver(paid)).status).toBe(200)
      expect(await here.count(GRANTED)).toBe(1)
      await here.server.close()
      await here.paidonce.close()
    } finally {
      await postgres.remove()
    }
  })

  it('P06 case-04 a blank, placeholder or wrong-mode secret stops the start', async () => {
    for (const webhookSecrets of ['', '  \n', 'whsec_...', 'changeme']) {
      expect(() => stripe({ webhookSecrets })).toThrow(expect.objectContaining({ code: 'secret_missing' }))
    }
    const live = stripe({ webhookSecrets: SECRET, apiKey: 'sk_live_51Hq8TzLk2mN9pRs' })
    const test = stripe({ webhookSecrets: SECRET, apiKey: 'sk_test_51Hq8TzLk2mN9pRs' })
    const start = (mode: 'live' | 'test', provider: typeof live) =>
      createPaidOnce({ mode, database: 'postgres://127.0.0.1:1/none', endpoints: { stripe: provider } })
    await expect(start('test', live)).rejects.toMatchObject({ code: 'mode_mismatch' })
    await expect(start('live', test)).rejects.toMatchObject({ code: 'mode_mismatch' })
    const twice = {
      a: stripe({ webhookSecrets: SECRET }),
      b: stripe({ webhookSecrets: SECRET, account: 'b' }),
    }
    const shared = createPaidOnce({ mode: 'test', database: 'postgres://127.0.0.1:1/none', endpoints: twice })
    await expect(shared).rejects.toMatchObject({ code: 'config_invalid' })
  })
})
