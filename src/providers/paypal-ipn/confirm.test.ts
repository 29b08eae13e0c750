import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LookupContext } from '../lookup.ts'
import { type FakeIpn, startFakeIpn } from './fake.ts'
import { context, endpoint, headers, message, POST_BACK_SHA256, VECTOR, VECTOR_SHA256 } from './told.ts'

describe('asking PayPal', () => {
  let fake: FakeIpn
  beforeEach(async () => {
    fake = await startFakeIpn()
  })
  afterEach(() => fake.close())

  const confirm = (body: Uint8Array) =>
    endpoint({ baseUrl: fake.url }).confirm!({ method: 'POST', headers, body }, context)

  it('P02 posts the bytes back as they came, in whatever charset, behind the command', async () => {
    const body = fake.send(VECTOR)
    expect(createHash('sha256').update(body).digest('hex')).toBe(VECTOR_SHA256)
    expect(await confirm(body)).toMatchObject({ refused: false })
    const [asked] = fake.requests
    expect(createHash('sha256').update(asked!.body).digest('hex')).toBe(POST_BACK_SHA256)
    expect(asked).toMatchObject({ method: 'POST', path: '/cgi-bin/webscr' })
    expect(asked?.headers['user-agent']).toMatch(/^PaidOnce/)
  })

  it('P02 posts any bytes back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect(await confirm(fake.send(bytes))).toMatchObject({ refused: false })
        expect(fake.requests.at(-1)!.body.subarray(21)).toEqual(Buffer.from(bytes))
      }),
      { numRuns: 50 },
    )
  })

  it('refuses what PayPal disowns, be it one byte of a genuine message', async () => {
    const body = fake.send(VECTOR)
    for (const other of [
      VECTOR.replace('25.00', '26.00'),
      VECTOR.replace('%E9', '%C3%A9'),
      VECTOR.replace('+', '%20'),
    ]) {
      expect(await confirm(Buffer.from(other))).toMatchObject({ refused: true, code: 'signature_wrong' })
    }
    expect(await confirm(body)).toMatchObject({ refused: false })
  })

  it('learns nothing from an error, a lost answer or a page for browsers', async () => {
    const body = fake.send(VECTOR)
    for (const fault of ['errors_before', 'errors_after', 'lost_answers', 'throttled'] as const) {
      fake.faults[fault] = 1
      await expect(confirm(body)).rejects.toMatchObject({ code: 'provider_unavailable', retriable: true })
    }
    fake.faults.locked_out = true
    await expect(confirm(body)).rejects.toMatchObject({ code: 'provider_unavailable', retriable: true })
  })

  it.each([
    ['live', 'https://ipnpb.paypal.com/cgi-bin/webscr'],
    ['sandbox', 'https://ipnpb.sandbox.paypal.com/cgi-bin/webscr'],
  ] as const)('P28 asks the %s system whatever the message says of itself', async (environment, address) => {
    const asked: string[] = []
    const noting: LookupContext = {
      ...context,
      ask: async (url) => {
        asked.push(url)
        return {
          status: 200,
          headers: new Headers(),
          body: Buffer.from('VERIFIED'),
          retry_after_ms: undefined,
        }
      },
    }
    for (const test_ipn of ['1', null]) {
      const body = Buffer.from(message('web_accept/Completed', { test_ipn }))
      await endpoint({ environment }).confirm!({ method: 'POST', headers, body }, noting)
    }
    expect(asked).toEqual([address, address])
  })
})
