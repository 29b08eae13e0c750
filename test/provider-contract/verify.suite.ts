import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fault } from '../../src/facts/fault.ts'
import type { Delivery } from '../../src/providers/contract.ts'
import type { LookupContext } from '../../src/providers/lookup.ts'
import { isVerified, NOW_MS, type Tested } from './subject.ts'

/** What holds whatever proves the sender. */
export function verifySuite(tested: Tested): void {
  const { provider, specimen, samples } = tested
  const { proof } = provider.capabilities

  it('P04 answers whatever headers and bodies come with a verdict, never with a throw', async () => {
    const good = tested.deliver(samples[0]!)
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.string()),
      fc.constant(undefined),
      fc.constantFrom('', ...specimen.headers.map((header) => String(good.headers[header]))),
    )
    const headers = fc.record(Object.fromEntries(specimen.headers.map((header) => [header, value])))
    const body = fc.uint8Array({ maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(headers, body, fc.string(), fc.maxSafeInteger(), async (odd, bytes, query, now_ms) => {
        const verdict = await provider.verify({ method: 'POST', headers: odd, body: bytes, query }, now_ms)
        if (proof === 'bytes' || proof === 'fields') expect(verdict.refused).toBe(true)
        if (verdict.refused)
          expect([verdict.status, verdict.code]).toEqual([401, expect.stringMatching(/^signature_/)])
      }),
      { numRuns: 500 },
    )
  })

  it('reads whatever comes back from a browser without a throw', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.uint8Array({ maxLength: 100 }),
        fc.constantFrom('GET', 'POST'),
        (query, body, method) => {
          provider.readReturn?.({ method, headers: {}, body, query })
        },
      ),
    )
  })

  if (proof === 'bytes' || proof === 'fields') {
    describe('a signed message', () => {
      signedSuite(tested)
      if (proof === 'bytes') bytesSuite(tested)
      else fieldsSuite(tested)
    })
  }
  if (proof === 'confirmation') {
    describe('a message that the provider is asked about', () => confirmedSuite(tested))
  }
  if (proof === 'none') {
    it('P01 never states money by a message that proves nothing', async () => {
      for (const body of samples) {
        const { facts } = await tested.translate(body)
        expect(JSON.stringify(facts.map((fact) => fact.key))).not.toMatch(/succeeded|refund|dispute/)
      }
    })
  }
}

async function refusedCode(tested: Tested, delivery: Delivery, now_ms = NOW_MS): Promise<string | null> {
  const answer = await tested.provider.verify(delivery, now_ms)
  if (!answer.refused) return null
  expect(answer.status).toBe(401)
  for (const { secret } of tested.specimen.secrets) expect(answer.detail).not.toContain(secret)
  return answer.code
}

function signedSuite(tested: Tested): void {
  const { provider, specimen, samples } = tested
  const sample = samples[0]!
  const good = tested.deliver(sample)
  const code = (delivery: Delivery, now_ms?: number) => refusedCode(tested, delivery, now_ms)

  it.each(specimen.vectors)('P02 accepts the vector: $name', async (vector) => {
    expect(await vector.provider.verify(vector.delivery, vector.now_ms)).toMatchObject({
      refused: false,
      secret_label: vector.secret_label,
    })
  })

  it('P02 has a vector that was signed elsewhere, and a provider that does not accept it', () => {
    expect(specimen.vectors.length).toBeGreaterThan(0)
    expect(specimen.providerOfSecond).not.toBeNull()
  })

  it('P03 case-03 allows the documented distance in time, both ways, and no second more', async () => {
    const { tolerance_s } = specimen
    expect(provider.capabilities.signed_time || tolerance_s === null).toBe(true)
    if (tolerance_s === null) {
      expect(await code(good, NOW_MS + 10 ** 10)).toBeNull()
      return
    }
    const at = (seconds: number) => code(good, NOW_MS + seconds * 1000)
    expect([await at(tolerance_s), await at(-tolerance_s)]).toEqual([null, null])
    expect(await at(tolerance_s + 1)).toBe('signature_stale')
    expect(await at(-tolerance_s - 1)).toBe('signature_ahead')
    expect(await at(-864_000)).toBe('signature_ahead')
  })

  it('P03 calls a forged stale delivery forged, so that nobody can fake a clock alarm', async () => {
    const answer = await specimen.providerOfSecond!.verify(good, NOW_MS + 10 ** 9)
    expect(answer).toMatchObject({ refused: true, code: 'signature_wrong' })
  })

  it('P05 case-04 refuses a secret that belongs elsewhere', async () => {
    const answer = await specimen.providerOfSecond!.verify(good, NOW_MS)
    expect(answer).toMatchObject({ refused: true, code: 'signature_wrong' })
  })

  it('P05 accepts each of several secrets and tells which one matched', async () => {
    for (const { label, secret } of specimen.secrets) {
      const answer = await provider.verify(specimen.sign(sample, secret, NOW_MS), NOW_MS)
      expect(answer).toMatchObject({ refused: false, secret_label: label })
      expect(JSON.stringify(answer)).not.toContain(secret)
    }
    expect(provider.secrets.map((secret) => secret.label)).toEqual(specimen.secrets.map(({ label }) => label))
  })

  it.each(specimen.headers)('P04 case-05 refuses a missing, empty or odd %s with 401', async (header) => {
    const value = String(good.headers[header])
    for (const instead of oddHeaders(value)) {
      const refused = await code({ ...good, headers: { ...good.headers, [header]: instead } })
      expect([instead, refused]).toEqual([
        instead,
        expect.stringMatching(/^signature_(missing|malformed|wrong)$/),
      ])
    }
    expect(await code(good)).toBeNull()
  })

  it.each(specimen.headers.slice(0, 1))(
    'P04 case-05 takes repeated lines of %s as one list, valid if any entry matches, or refuses them',
    async (header) => {
      const value = String(good.headers[header])
      const wrong = String(tested.deliver(Buffer.from('other')).headers[header])
      const list = specimen.repeated !== 'refused'
      for (const repeated of [[value, wrong], [wrong, value], ['garbage', value], `${wrong}, ${value}`]) {
        const answer = await code({ ...good, headers: { ...good.headers, [header]: repeated } })
        expect([repeated, answer]).toEqual([repeated, list ? null : expect.stringMatching(/malformed|wrong/)])
      }
      const twice = await code({ ...good, headers: { ...good.headers, [header]: [wrong, wrong] } })
      expect(twice).toBe(list ? 'signature_wrong' : 'signature_malformed')
    },
  )

  it.each(specimen.headers.slice(1))('P04 refuses a repeated %s', async (header) => {
    const value = String(good.headers[header])
    for (const repeated of [[value, value], `${value}, ${value}`]) {
      const answer = await code({ ...good, headers: { ...good.headers, [header]: repeated } })
      expect(answer).toBe('signature_malformed')
    }
  })
}

function oddHeaders(value: string): readonly (string | readonly string[] | undefined)[] {
  return [
    undefined,
    '',
    ' ',
    ',',
    '=',
    'v1',
    'v1=',
    'v1,',
    't=',
    'a',
    value.slice(0, -1),
    `${value}0`,
    `${value.slice(0, -2)}é`,
    `${value.slice(0, -1)}\u0000`,
    value.slice(0, -64) + 'z'.repeat(64),
    'Ω'.repeat(64),
    '0'.repeat(100_000),
    [],
  ]
}

/** Where the signature covers the bytes as they came. */
function bytesSuite(tested: Tested): void {
  const { specimen, samples } = tested
  const sample = samples[0]!
  const good = tested.deliver(sample)
  const code = (delivery: Delivery) => refusedCode(tested, delivery)

  it.each(specimen.vectors)('P02 refuses the vector with one byte changed: $name', async (vector) => {
    for (let at = 0; at < vector.delivery.body.length; at += 1) {
      const body = Buffer.from(vector.delivery.body)
      body[at] = body[at]! ^ 1
      const answer = await vector.provider.verify({ ...vector.delivery, body }, vector.now_ms)
      expect(answer.refused).toBe(true)
    }
  })

  it('P02 case-01 refuses any change of the body: a byte, a space, a newline, another encoding of the same JSON', async () => {
    const text = sample.toString('utf8')
    const changed = [
      `${text} `,
      ` ${text}`,
      `${text}\n`,
      `\uFEFF${text}`,
      text.trimEnd().slice(0, -1),
      specimen.syntax === 'form' ? `${text}&a=b` : JSON.stringify(JSON.parse(text)),
      text.replaceAll('\n', '\r\n'),
      '',
    ].filter((body) => body !== text)
    for (const body of changed)
      expect(await code({ ...good, body: Buffer.from(body) })).toBe('signature_wrong')
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: sample.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const body = Buffer.from(sample)
          body[at] = body[at]! ^ flip
          expect(await code({ ...good, body })).toBe('signature_wrong')
        },
      ),
    )
  })

  it('P02 case-01 case-02 verifies bodies as sent: BOM, CRLF, final newline, beyond ASCII, not even UTF-8', async () => {
    const text = sample.toString('utf8')
    const bodies = [
      Buffer.from(`\uFEFF${text}`),
      Buffer.from(text.replaceAll('\n', '\r\n')),
      Buffer.from(`${text}\n`),
      Buffer.from('{"name":"Ærø Łódź 🧾"}'),
      Buffer.from([0xff, 0xfe, 0x00, 0x80]),
      Buffer.alloc(0),
    ]
    for (const body of bodies) {
      const delivery = tested.deliver(body)
      expect(await code(delivery)).toBeNull()
      const latin = { ...delivery.headers, 'content-type': 'text/plain; charset=latin1' }
      expect(await code({ ...delivery, headers: latin })).toBeNull()
    }
  })

  it('P02 verifies any bytes that were signed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (body) => {
        expect(await code(tested.deliver(body))).toBeNull()
      }),
    )
  })
}

/** Where the signature covers named fields: the rest may change, and then it may not matter. */
function fieldsSuite(tested: Tested): void {
  const { provider, specimen } = tested

  it('P02 refuses any change of the message that would change a fact', async () => {
    for (const { delivery, now_ms, ...vector } of specimen.vectors) {
      const first = await vector.provider.verify(delivery, now_ms)
      if (!isVerified(first)) throw new Error(`the vector ${vector.name} is not verified`)
      const { facts } = vector.provider.translate(delivery, first)
      for (let at = 0; at < delivery.body.length; at += 1) {
        const body = Buffer.from(delivery.body)
        body[at] = body[at]! ^ 1
        const answer = await vector.provider.verify({ ...delivery, body }, now_ms)
        if (!isVerified(answer)) continue
        const reading = vector.provider.translate({ ...delivery, body }, answer)
        if (reading.outcome === 'facts') expect(reading.facts).toEqual(facts)
      }
    }
  })

  it('P02 refuses a message without its signature', async () => {
    for (const body of ['', '{}', '[]', 'null', '5']) {
      const answer = await provider.verify({ method: 'POST', headers: {}, body: Buffer.from(body) }, NOW_MS)
      expect(answer.refused).toBe(true)
    }
  })
}

/** Where the provider has to be asked before anything is believed. */
function confirmedSuite(tested: Tested): void {
  const { provider, samples } = tested
  const asking = (ask: LookupContext['ask']): LookupContext => ({ now_ms: NOW_MS, limit_ms: 1000, ask })

  it('P51 never believes a message by itself', async () => {
    for (const body of samples) {
      const verdict = await provider.verify(tested.deliver(body), NOW_MS)
      expect(verdict).toEqual({ refused: false, unconfirmed: true })
    }
  })

  it('P51 does not take silence, an error or an odd answer for a yes', async () => {
    const delivery = tested.deliver(samples[0]!)
    const silent = asking(() =>
      Promise.reject(new Fault('provider_unavailable', 'no answer', { retriable: true })),
    )
    await expect(provider.confirm!(delivery, silent)).rejects.toMatchObject({ code: 'provider_unavailable' })
    for (const [status, body] of [
      [500, 'VERIFIED'],
      [302, ''],
      [200, ''],
      [200, '<html>VERIFIED</html>'],
      [200, '{}'],
    ] as const) {
      const context = asking(async () => ({
        status,
        headers: new Headers(),
        body: Buffer.from(body),
        retry_after_ms: undefined,
      }))
      const believed = await provider.confirm!(delivery, context).then(
        (answer) => !answer.refused,
        () => false,
      )
      expect([status, body, believed]).toEqual([status, body, false])
    }
  })
}
