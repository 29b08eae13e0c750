import { verify as verifySignature, X509Certificate } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Delivery } from '../contract.ts'
import { certificateAddress, issuerAddress, readCertificates } from './certificate.ts'
import type { PaypalOptions } from './index.ts'
import { STAND_IN_PATH, signPaypal, standInCertificates, standInRoot } from './stand-in-signer.ts'
import { expired, issuedByLeaf, liveName, selfSigned, wrongName } from './untrusted-certificates.ts'
import { certificateHost, collision, specimen, standIn } from './vectors.ts'

const NOW_MS = 1_760_000_500_000
const WEBHOOK = 'STANDIN0WEBHOOK0OLDER'
const body = Buffer.from('{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED"}')

function deliver(headers: Record<string, string | string[] | undefined> = {}): Delivery {
  return { method: 'POST', headers: { ...signPaypal(body, WEBHOOK, NOW_MS), ...headers }, body }
}

/** What an endpoint says whose certificate host serves this file. */
async function withFile(file: string, options: Partial<PaypalOptions> = {}) {
  const fetcher = certificateHost({ [STAND_IN_PATH]: file })
  return standIn({ fetcher, ...options }).verify(deliver(), NOW_MS)
}

describe('the certificate', () => {
  it('is accepted when it leads to a trusted root', async () => {
    expect(await withFile(standInCertificates)).toMatchObject({ refused: false, signed_at_ms: NOW_MS })
  })

  it.each([
    ['another name', wrongName],
    ["the live system's name at a sandbox endpoint", liveName],
    ['no authority behind it', selfSigned],
    ['an issuer that is no authority', issuedByLeaf],
    ['a time that is over', expired],
  ])('is refused with %s', async (_what, file) => {
    const [signer = '', ...issuers] = standInCertificates.split(/(?<=-----END CERTIFICATE-----\n)/)
    const answer = await withFile([file, ...issuers, signer].join(''))
    expect(answer).toMatchObject({ refused: true, code: 'signature_wrong' })
  })

  it('is refused by an endpoint that trusts the public authorities only', async () => {
    expect(await withFile(standInCertificates, { trustedRoots: undefined })).toMatchObject({
      refused: true,
      code: 'signature_wrong',
    })
  })

  it('is completed from configured intermediates when the file leaves them out', async () => {
    const [signer = '', issuer = ''] = standInCertificates.split(/(?<=-----END CERTIFICATE-----\n)/)
    expect(await withFile(signer)).toMatchObject({ refused: true })
    expect(await withFile(signer, { intermediates: [issuer] })).toMatchObject({ refused: false })
  })

  it('takes the issuer from its authority over https, and from no other host', () => {
    const infoAccess =
      'OCSP - URI:http://ocsp.digicert.com\nCA Issuers - URI:http://cacerts.digicert.com/A.crt\n'
    const of = (text: string) =>
      issuerAddress({ infoAccess: text } as X509Certificate, ['cacerts.digicert.com'])?.href
    expect(of(infoAccess)).toBe('https://cacerts.digicert.com/A.crt')
    expect(of(infoAccess.replace('cacerts.', 'evil.'))).toBeUndefined()
    expect(of(infoAccess.replace('cacerts.', 'me@cacerts.'))).toBeUndefined()
  })

  it('reads a file of several certificates, and none of one with a broken part', () => {
    expect(readCertificates(standInCertificates)).toHaveLength(2)
    expect(readCertificates(standInCertificates.replace('MII', 'MIX'))).toEqual([])
    expect(readCertificates(standInRoot.repeat(50))).toEqual([])
  })

  it('P12 asks for another delivery when it cannot be had', async () => {
    const silent: typeof fetch = () => Promise.reject(new Error('no route'))
    const broken: typeof fetch = async () => new Response('', { status: 503 })
    const page: typeof fetch = async () => new Response('<html>Sorry</html>')
    for (const fetcher of [silent, broken, page]) {
      const verdict = Promise.resolve(standIn({ fetcher }).verify(deliver(), NOW_MS))
      await expect(verdict).rejects.toMatchObject({ code: 'provider_unavailable', retriable: true })
    }
  })

  it('is fetched once for any number of deliveries at the same time, and never again', async () => {
    let fetched = 0
    const host = certificateHost({ [STAND_IN_PATH]: standInCertificates })
    const fetcher: typeof fetch = (...request) => {
      fetched += 1
      return host(...request)
    }
    const provider = standIn({ fetcher })
    const answers = await Promise.all([1, 2, 3].map(() => provider.verify(deliver(), NOW_MS)))
    expect(answers.map(({ refused }) => refused)).toEqual([false, false, false])
    expect(provider.verify(deliver(), NOW_MS)).toMatchObject({ refused: false })
    expect(fetched).toBe(1)
  })

  it('is not pushed out by made-up addresses, which are fetched a few at a time', async () => {
    let under_way = 0
    let most = 0
    const host = certificateHost({ [STAND_IN_PATH]: standInCertificates })
    const fetcher: typeof fetch = async (...request) => {
      under_way += 1
      most = Math.max(most, under_way)
      await Promise.resolve()
      under_way -= 1
      return host(...request)
    }
    const provider = standIn({ fetcher })
    await provider.verify(deliver(), NOW_MS)
    const flood = Array.from({ length: 400 }, (_, at) =>
      Promise.resolve(
        provider.verify(
          deliver({ 'paypal-cert-url': `https://api.sandbox.paypal.com/v1/notifications/certs/CERT-${at}` }),
          NOW_MS,
        ),
      ).catch((error: { code: string }) => error.code),
    )
    for (const answer of await Promise.all(flood)) {
      if (answer !== 'provider_unavailable') expect(answer).toMatchObject({ code: 'signature_wrong' })
    }
    expect(most).toBeLessThanOrEqual(4)
    expect(provider.verify(deliver(), NOW_MS)).toMatchObject({ refused: false })
  })
})

describe('the address of the certificate', () => {
  const path = '/v1/notifications/certs/CERT-360caa42-fca2a594-8079afec'

  it.each([
    ['https://api.sandbox.paypal.com', 'sandbox'],
    ['https://api.sandbox.paypal.com:443', 'sandbox'],
    ['https://API.SANDBOX.PAYPAL.COM', 'sandbox'],
    ['https://api.paypal.com', 'live'],
    ['https://api-m.paypal.com', 'live'],
  ] as const)('may be %s for %s', (host, environment) => {
    expect(certificateAddress(host + path, environment)?.pathname).toBe(path)
  })

  it.each([
    'https://evil.example/?paypal.com',
    `https://evil.example${path}?.paypal.com`,
    `https://api.sandbox.paypal.com.evil.example${path}`,
    `https://evilpaypal.com${path}`,
    `https://paypal.com@evil.example${path}`,
    `https://user:pass@api.sandbox.paypal.com${path}`,
    `http://api.sandbox.paypal.com${path}`,
    `https://api.sandbox.paypal.com:8443${path}`,
    `https://api.sandbox.paypal.com${path}?x=1`,
    `https://api.sandbox.paypal.com${path}#x`,
    `https://api.sandbox.paypal.com/other${path}`,
    `https://api.sandbox.paypal.com${path}/../../../redirect`,
    `https://api.sandbox.paypal.com\\@evil.example${path}`,
    `https://api.paypal.com${path}`,
    'https://127.0.0.1/v1/notifications/certs/CERT-1',
    '',
  ])('may not be %s', async (address) => {
    expect(certificateAddress(address, 'sandbox')).toBeNull()
    let asked = 0
    const fetcher: typeof fetch = async () => {
      asked += 1
      return new Response('')
    }
    const answer = await standIn({ fetcher }).verify(deliver({ 'paypal-cert-url': address }), NOW_MS)
    expect(answer).toMatchObject({ refused: true, code: 'signature_malformed' })
    expect(asked).toBe(0)
  })

  it('is never another host, whatever text stands round the name', () => {
    fc.assert(
      fc.property(
        fc.webUrl(),
        fc.constantFrom('paypal.com', '.paypal.com', 'api.paypal.com'),
        (url, name) => {
          for (const text of [
            url + name,
            `${url}/${name}`,
            url.replace('//', `//${name}.`),
            `${url}?${name}`,
          ]) {
            const host = certificateAddress(text, 'live')?.hostname
            if (host !== undefined) expect(host).toMatch(/\.paypal\.com$/)
          }
        },
      ),
    )
  })
})

describe('the signature', () => {
  it('covers the CRC-32 as an unsigned decimal', () => {
    expect(crc32('123456789')).toBe(3_421_780_262)
    const headers = signPaypal('123456789', WEBHOOK, NOW_MS)
    const signed = `${headers['paypal-transmission-id']}|${headers['paypal-transmission-time']}|${WEBHOOK}|3421780262`
    const signature = Buffer.from(headers['paypal-transmission-sig']!, 'base64')
    const key = new X509Certificate(standInCertificates).publicKey
    expect(verifySignature('sha256', Buffer.from(signed), key, signature)).toBe(true)
  })

  it('P48 covers 32 bits of the body only: a body with another amount passes under a genuine signature', async () => {
    const { provider, genuine, forged, now_ms } = collision
    expect(crc32(forged.body)).toBe(crc32(genuine.body))
    expect(await provider.verify(genuine, now_ms)).toMatchObject({ refused: false })
    expect(await provider.verify(forged, now_ms)).toMatchObject({ refused: false })
  })

  it.each(['SHA1withRSA', 'SHA256WITHRSA', 'none', 'SHA256withRSA/PSS'])(
    'refuses algorithm %s',
    (algorithm) => {
      expect(standIn().verify(deliver({ 'paypal-auth-algo': algorithm }), NOW_MS)).toMatchObject({
        refused: true,
        code: 'signature_malformed',
      })
    },
  )

  it('refuses parts that could be shifted against each other', () => {
    const id = 'b2f5d0a0|2026-01-01T00:00:00Z'
    expect(standIn().verify(deliver({ 'paypal-transmission-id': id }), NOW_MS)).toMatchObject({
      refused: true,
    })
  })

  it('P03 accepts a delivery that PayPal repeats for three days', async () => {
    const later_ms = NOW_MS + 3 * 86_400_000
    expect(await specimen.provider.verify(deliver(), later_ms)).toMatchObject({ refused: false })
  })
})
