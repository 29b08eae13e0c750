import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { giveUp, retryAfter } from './outcome.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'
import { retryAfter_ms, type SignedHttpOptions, signedHttp } from './signed-http.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const newSecret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
const effect: OutgoingEffect = {
  key: 'effect_3_12',
  id: 12n,
  tenant: 'default',
  topic: 'entitlement.changed',
  lane: 'access',
  item: 'course',
  subject: { kind: 'order', key: 'A-1' },
  order: 'A-1',
  cause: 'revision-2',
  revision: 2,
  epoch: 3n,
  attempt: 1,
  created_at: new Date('2026-01-02T00:00:00Z'),
  payload: { state: 'revoked', note: 'ünïcode €' },
}

interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

describe('signed HTTP', () => {
  let server: Server
  let url: string
  let requests: Request[]
  let answer: (response: ServerResponse) => void

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { method, url: path, headers } = request
      requests.push({
        method: method!,
        path: path!,
        headers: single(headers),
        body: Buffer.concat(chunks).toString(),
      })
      answer(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    requests = []
    answer = (response) => response.writeHead(204).end()
  })

  const deliver = (given: OutgoingEffect = effect, options: Partial<SignedHttpOptions> = {}) =>
    Promise.resolve(
      signedHttp({ url: `${url}/hook`, secrets: [secret], ...options })(given, {
        signal: new AbortController().signal,
      }),
    )
  const answering =
    (status: number, headers: Record<string, string> = {}, body = '') =>
    (response: ServerResponse) =>
      response.writeHead(status, headers).end(body)

  it('P35 is accepted by the reference library, and says everything but the attempt', async () => {
    expect(await deliver()).toBeUndefined()
    const [{ method, path, headers, body }] = requests as [Request]
    expect([method, path, headers['content-type']]).toEqual(['POST', '/hook', 'application/json'])
    expect(headers['webhook-id']).toBe('effect_3_12')
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: 'entitlement.changed',
      timestamp: '2026-01-02T00:00:00.000Z',
      data: {
        key: 'effect_3_12',
        tenant: 'default',
        subject: { kind: 'order', key: 'A-1' },
        order: 'A-1',
        item: 'course',
        cause: 'revision-2',
        revision: 2,
        epoch: '3',
        payload: { state: 'revoked', note: 'ünïcode €' },
      },
    })
  })

  it('P35 signs id, time and body together: none can be changed alone', async () => {
    await deliver()
    const [{ headers, body }] = requests as [Request]
    const verify = (changed: Record<string, string>, text = body) =>
      new Webhook(secret).verify(text, { ...headers, ...changed })
    const earlier = String(Number(headers['webhook-timestamp']) - 1)
    expect(() => verify({ 'webhook-id': 'effect_3_13' })).toThrow(WebhookVerificationError)
    expect(() => verify({ 'webhook-timestamp': earlier })).toThrow(WebhookVerificationError)
    expect(() => verify({}, body.replace('revoked', 'granted'))).toThrow(WebhookVerificationError)
    expect(() => verify({})).not.toThrow()
  })

  it('P35 keeps id and body at every attempt, under a fresh time', async () => {
    let now_ms = Date.now()
    await deliver(effect, { now_ms: () => now_ms })
    now_ms += 60_000
    await deliver({ ...effect, attempt: 2 }, { now_ms: () => now_ms })
    const [first, second] = requests as [Request, Request]
    expect(second.body).toBe(first.body)
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
    expect(Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp'])).toBe(60)
    new Webhook(secret).verify(second.body, second.headers)
  })

  it('signs with all secrets, so that a receiver may hold the old one or the new one', async () => {
    await deliver(effect, { secrets: [secret, newSecret] })
    const [{ headers, body }] = requests as [Request]
    for (const held of [secret, newSecret]) new Webhook(held).verify(body, headers)
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    expect(() => new Webhook(other).verify(body, headers)).toThrow(WebhookVerificationError)
  })

  it('sends further headers, and lets none replace the signature', async () => {
    await deliver(effect, { headers: { authorization: 'Bearer x', 'Webhook-Id': 'forged' } })
    const [{ headers, body }] = requests as [Request]
    expect(headers.authorization).toBe('Bearer x')
    expect(headers['webhook-id']).toBe('effect_3_12')
    new Webhook(secret).verify(body, headers)
  })

  it.each([200, 201, 202, 204, 299])('takes %d for done', async (status) => {
    answer = answering(status, {}, status === 204 ? '' : 'thank you')
    expect(await deliver()).toBeUndefined()
  })

  it.each([400, 401, 404, 409, 500, 502, 503, 429])('tries again after %d', async (status) => {
    answer = answering(status, {}, 'not now')
    await expect(deliver()).rejects.toThrow(`The receiver answered ${status}: not now`)
  })

  it('gives up after 410', async () => {
    answer = answering(410)
    expect(await deliver()).toEqual(giveUp('The receiver answered 410'))
  })

  it.each([429, 503])('waits as long as %d says', async (status) => {
    answer = answering(status, { 'retry-after': '120' })
    expect(await deliver()).toEqual(retryAfter(120_000, `The receiver answered ${status}`))
  })

  it('follows no redirect', async () => {
    answer = answering(307, { location: '/elsewhere' })
    await expect(deliver()).rejects.toThrow('The receiver answered 307')
    expect(requests.map((request) => request.path)).toEqual(['/hook'])
  })

  it('keeps no more than the first 200 characters of an answer', async () => {
    answer = answering(500, {}, 'é'.repeat(1_000_000))
    await expect(deliver()).rejects.toThrow(/^The receiver answered 500: é{200}$/)
  })

  it('fails when the receiver takes too long', async () => {
    answer = () => undefined
    await expect(deliver(effect, { time_limit_ms: 20 })).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it('ends when it is told to', async () => {
    const abort = new AbortController()
    answer = () => abort.abort(new Error('The worker stops.'))
    const sent = signedHttp({ url, secrets: [secret] })(effect, { signal: abort.signal })
    await expect(sent).rejects.toThrow('The worker stops.')
  })

  it('fails when nobody is there', async () => {
    await expect(deliver(effect, { url: 'http://127.0.0.1:1/' })).rejects.toThrow('fetch failed')
  })

  it.each([
    [{ url: 'ftp://example.org' }, 'config_invalid'],
    [{ url: '/hook' }, 'config_invalid'],
    [{ url: 'https://ada:secret@example.org' }, 'config_invalid'],
    [{ secrets: [] }, 'secret_missing'],
    [{ secrets: [secret, ' '] }, 'secret_missing'],
    [{ secrets: ['whsec_short'] }, 'config_invalid'],
    [{ secrets: [`whsec_${Buffer.alloc(23).toString('base64')}`] }, 'config_invalid'],
    [{ secrets: ['whsec_not base64, but long enough to be one'] }, 'config_invalid'],
  ])('refuses options that cannot work: %o', (options, code) => {
    const make = () => signedHttp({ url, secrets: [secret], ...options })
    expect(make).toThrow(expect.objectContaining({ code }))
    expect(make).not.toThrow(/ada:secret|short/)
  })
})

describe('a Retry-After header', () => {
  const now_ms = Date.parse('2026-01-02T12:00:00Z')
  it.each([
    [null, null],
    ['0', 0],
    [' 30 ', 30_000],
    ['Fri, 02 Jan 2026 12:01:00 GMT', 60_000],
    ['Fri, 02 Jan 2026 11:00:00 GMT', 0],
    ['soon', null],
    ['-5', null],
    ['1.5', null],
    ['', null],
  ])('%o asks for %o ms', (header, expected) => {
    expect(retryAfter_ms(header, now_ms)).toBe(expected)
  })
})

function single(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
