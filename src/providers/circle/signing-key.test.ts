import { createVerify, generateKeyPairSync, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ask, AskAnswer } from '../ask.ts'
import type { Delivery } from '../contract.ts'
import { KeyCache } from './key-cache.ts'
import { readPublicKey } from './notification-key.ts'
import { sampleEndpoint } from './sample.ts'
import { SAMPLE_KEY, signWithSampleKey } from './sample-key.ts'
import { circleWallets } from './wallets.ts'

const NOW_MS = 1_760_000_500_000
const KEY_ID = '879dc113-5ca4-4ff7-a6b7-54652083fcf8'
const body = Buffer.from('{"hello":"wörld"}')
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')

function answer(status: number, content: unknown = {}): AskAnswer {
  return {
    status,
    headers: new Headers(),
    body: Buffer.from(JSON.stringify(content)),
    retry_after_ms: undefined,
  }
}

function keyAnswer(changed: object = {}): AskAnswer {
  return answer(200, { data: { id: KEY_ID, algorithm: 'ECDSA_SHA_256', publicKey: spki, ...changed } })
}

/** An endpoint whose key server is this function, and what was asked of it. */
function endpoint(ask: () => AskAnswer | Promise<AskAnswer>) {
  const asked: string[] = []
  const stub: Ask = async (url) => {
    asked.push(url)
    return ask()
  }
  const provider = circleWallets({
    ...sampleEndpoint,
    publicKeys: {},
    apiKey: 'TEST_API_KEY:a1:b2',
    ask: stub,
  })
  return { provider, asked }
}

function delivery(id = KEY_ID, signed: Uint8Array = body): Delivery {
  const signature = sign('sha256', body, privateKey).toString('base64')
  return { method: 'POST', headers: { 'x-circle-signature': signature, 'x-circle-key-id': id }, body: signed }
}

function uuid(n: number): string {
  return `00000000-0000-4000-8000-${`${n}`.padStart(12, '0')}`
}

describe('a signing key', () => {
  it('is fetched once by its id, also when many messages wait for it, and then answers at once', async () => {
    const { provider, asked } = endpoint(() => keyAnswer())
    const verdicts = await Promise.all([1, 2, 3].map(() => provider.verify(delivery(), NOW_MS)))
    expect(verdicts).toEqual(Array(3).fill(expect.objectContaining({ refused: false, secret_label: KEY_ID })))
    expect(provider.verify(delivery(), NOW_MS)).toMatchObject({ refused: false })
    expect(provider.verify(delivery(KEY_ID, Buffer.concat([body, Buffer.from('\n')])), NOW_MS)).toMatchObject(
      {
        code: 'signature_wrong',
      },
    )
    expect(asked).toEqual([`https://api.circle.com/v2/notifications/publicKey/${KEY_ID}`])
  })

  it('P04 is asked for by nothing but a uuid', async () => {
    const { provider, asked } = endpoint(() => keyAnswer())
    for (const id of [
      '',
      '../../v1/w3s/wallets',
      `${KEY_ID}/..`,
      `${KEY_ID}?a=b`,
      `${KEY_ID}\n`,
      ` ${KEY_ID}`,
      'x'.repeat(36),
    ]) {
      expect(await provider.verify(delivery(id), NOW_MS)).toMatchObject({
        refused: true,
        code: 'signature_malformed',
      })
    }
    expect(asked).toEqual([])
  })

  it.each<[string, () => AskAnswer | Promise<AskAnswer>]>([
    ['is down', () => Promise.reject(new Error('ECONNREFUSED'))],
    ['answers 500', () => answer(500)],
    ['refuses the API key', () => answer(401)],
    ['redirects', () => answer(302)],
    ['answers with another key', () => keyAnswer({ id: uuid(1) })],
    ['answers with another algorithm', () => keyAnswer({ algorithm: 'RSA' })],
    ['answers with no key', () => keyAnswer({ publicKey: 'MFkw' })],
  ])('asks the sender to deliver again while the key server %s', async (_, ask) => {
    const { provider } = endpoint(ask)
    await expect(provider.verify(delivery(), NOW_MS)).rejects.toThrow()
  })

  it('says so as a fault that another try may mend', async () => {
    const { provider, asked } = endpoint(() => answer(503))
    const fault = { code: 'provider_unavailable', retriable: true }
    await expect(provider.verify(delivery(), NOW_MS)).rejects.toMatchObject(fault)
    await expect(provider.verify(delivery(), NOW_MS)).rejects.toMatchObject(fault)
    expect(asked).toHaveLength(2)
  })

  it('that Circle does not know is not asked for again for five minutes', async () => {
    const { provider, asked } = endpoint(() => answer(404))
    expect(await provider.verify(delivery(), NOW_MS)).toMatchObject({ refused: true, status: 401 })
    expect(provider.verify(delivery(), NOW_MS + 299_000)).toMatchObject({ code: 'signature_wrong' })
    expect(asked).toHaveLength(1)
    await provider.verify(delivery(), NOW_MS + 301_000)
    expect(asked).toHaveLength(2)
  })

  it('P04 a stranger who names any ids buys few requests, and no known key is lost by it', async () => {
    const known = new Set([uuid(0)])
    let asked = 0
    const cache = new KeyCache<string>(async (id) => {
      asked += 1
      return known.has(id) ? id : null
    })
    expect(await cache.get(uuid(0), NOW_MS)).toBe(uuid(0))
    const flood = await Promise.allSettled(
      Array.from({ length: 5_000 }, (_, n) => cache.get(uuid(n + 1), NOW_MS)),
    )
    expect(asked).toBe(60)
    expect(flood.filter(({ status }) => status === 'rejected')).toHaveLength(5_000 - 59)
    expect(cache.get(uuid(0), NOW_MS)).toBe(uuid(0))
    expect(await cache.get(uuid(7_777), NOW_MS + 60_000)).toBeNull()
  })

  it('must be on P-256', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({
      type: 'spki',
      format: 'der',
    })
    expect(() => readPublicKey(other.toString('base64'))).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    )
  })
})

describe('the sample key', () => {
  it('signs any body so that OpenSSL verifies it, the same each time', () => {
    const key = readPublicKey(SAMPLE_KEY.publicKey)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const signature = signWithSampleKey(bytes)
        expect(signWithSampleKey(bytes)).toBe(signature)
        expect(createVerify('sha256').update(bytes).verify(key, signature, 'base64')).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})
