import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Ask } from '../../ask.ts'
import { certificateUrl } from './certificate.ts'
import { confirmSubscription } from './confirm-subscription.ts'
import { chargebackBody, intentBody, paymentBody } from './event-rows.ts'
import type { CircleMintOptions } from './mint.ts'
import { circleMint } from './mint.ts'
import { SAMPLE_CLIENT, SAMPLE_TOPIC, sampleMintEndpoint, signSns } from './sample.ts'
import { SAMPLE_CERTIFICATE, SAMPLE_CERTIFICATE_URL } from './sample-certificate.ts'
import { readTopic } from './topic.ts'

const NOW_MS = 1_760_000_500_000
const ACCEPTED = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
const CONFIRMATION = readFileSync(new URL('./samples/subscription-confirmation.json', import.meta.url))

/** An endpoint that fetches its certificate from this answer, and what was asked. */
function endpoint(status = 200, pem = SAMPLE_CERTIFICATE, options: Partial<CircleMintOptions> = {}) {
  const asked: string[] = []
  const ask: Ask = async (url, { hosts }) => {
    asked.push(url)
    expect(hosts).toEqual(['sns.us-west-2.amazonaws.com'])
    return { status, headers: new Headers(), body: Buffer.from(pem), retry_after_ms: undefined }
  }
  return { provider: circleMint({ ...sampleMintEndpoint, certificates: {}, ask, ...options }), asked }
}

const post = (body: string | Uint8Array) => ({ method: 'POST', headers: {}, body: Buffer.from(body) })

function changed(change: object): string {
  return JSON.stringify({ ...JSON.parse(paymentBody('paid').toString('utf8')), ...change })
}

function translate(body: Uint8Array | string, options: Partial<CircleMintOptions> = {}) {
  return circleMint({ ...sampleMintEndpoint, ...options }).translate(post(body), ACCEPTED)
}

describe('an SNS message', () => {
  it('P02 verifies in both signature versions, and its certificate is fetched once', async () => {
    const { provider, asked } = endpoint()
    const body = paymentBody('paid')
    for (const version of ['1', '2'] as const) {
      expect(await provider.verify(post(signSns(body, version)), NOW_MS)).toMatchObject({ refused: false })
    }
    expect(asked).toEqual([SAMPLE_CERTIFICATE_URL])
    for (const [from, to] of [
      ['1', '2'],
      ['2', '1'],
      ['2', '3'],
    ] as const) {
      const message = JSON.parse(signSns(body, from === '1' ? '1' : '2'))
      const verdict = await provider.verify(
        post(JSON.stringify({ ...message, SignatureVersion: to })),
        NOW_MS,
      )
      expect(verdict).toMatchObject({ refused: true, status: 401 })
    }
  })

  it('P04 of another topic is refused before anything is fetched for it', async () => {
    const { provider, asked } = endpoint()
    const TopicArn = 'arn:aws:sns:us-west-2:111111111111:sandbox_platform-notifications-topic'
    const body = signSns(changed({ TopicArn }))
    expect(await provider.verify(post(body), NOW_MS)).toMatchObject({
      refused: true,
      code: 'signature_wrong',
    })
    expect(asked).toEqual([])
  })

  it.each([
    'http://sns.us-west-2.amazonaws.com/a.pem',
    'https://sns.us-west-2.amazonaws.com.evil.example/a.pem',
    'https://evil.example/sns.us-west-2.amazonaws.com/a.pem',
    'https://sns.us-east-1.amazonaws.com/a.pem',
    'https://sns.us-west-2.amazonaws.com:8443/a.pem',
    'https://user@sns.us-west-2.amazonaws.com/a.pem',
    'https://sns.us-west-2.amazonaws.com/a.pem?x=.pem',
    'https://sns.us-west-2.amazonaws.com/?Action=GetTopicAttributes&x=.pem',
    'https://sns.us-west-2.amazonaws.com/a.pem#.pem',
    'https://sns.us-west-2.amazonaws.com/../a.pem',
    'https://sns.us-west-2.amazonaws.com/a.pem\n',
    'https://SNS.us-west-2.amazonaws.com/a.pem',
    'https://s3.us-west-2.amazonaws.com/a.pem',
    '',
  ])('P04 asks for no certificate at %j', async (SigningCertURL) => {
    const { provider, asked } = endpoint()
    const verdict = await provider.verify(post(changed({ SigningCertURL })), NOW_MS)
    expect(verdict).toMatchObject({ refused: true, status: 401 })
    expect(asked).toEqual([])
    expect(certificateUrl(SigningCertURL, readTopic(SAMPLE_TOPIC))).toBeNull()
  })

  it('is asked for again while AWS gives no certificate, and refused when there is none', async () => {
    const fault = { code: 'provider_unavailable', retriable: true }
    await expect(endpoint(503).provider.verify(post(paymentBody('paid')), NOW_MS)).rejects.toMatchObject(
      fault,
    )
    await expect(
      endpoint(200, 'odd').provider.verify(post(paymentBody('paid')), NOW_MS),
    ).rejects.toMatchObject(fault)
    expect(await endpoint(403).provider.verify(post(paymentBody('paid')), NOW_MS)).toMatchObject({
      refused: true,
    })
  })

  it('is refused with a certificate that is not valid now', async () => {
    const year_2150_ms = 5_680_281_600_000
    const verdict = await endpoint().provider.verify(post(paymentBody('paid')), year_2150_ms)
    expect(verdict).toMatchObject({ refused: true, detail: 'the certificate is not valid at this time' })
  })

  it('has its id from SNS and its time from the object', () => {
    const { MessageId } = JSON.parse(paymentBody('paid').toString('utf8'))
    expect(translate(paymentBody('paid'))).toMatchObject({
      event_id: MessageId,
      type: 'payments',
      occurred_at: '2025-10-09T08:53:20.000Z',
      mode: 'test',
      account: 'default',
    })
  })

  it('P27 of another client of the same topic settles nothing', () => {
    const other = '11111111-2222-4333-8444-555555555555'
    expect(translate(paymentBody('paid'), { clientIds: [other] })).toMatchObject({
      outcome: 'not_ours',
      account: SAMPLE_CLIENT,
      facts: [],
    })
  })
})

describe('a confirmation', () => {
  it('is stored with the words what to do, and nothing is visited', () => {
    const answer = translate(signSns(CONFIRMATION))
    expect(answer).toMatchObject({ outcome: 'ignored', type: 'SubscriptionConfirmation', facts: [] })
    expect(answer.reason).toContain('confirmSubscription')
    expect(answer.lookups).toBeUndefined()
  })

  const asking = (status: number) => {
    const asked: string[] = []
    const ask: Ask = async (url) => {
      asked.push(url)
      return { status, headers: new Headers(), body: Buffer.alloc(0), retry_after_ms: undefined }
    }
    return { ask, asked }
  }

  it('goes to the host of the pinned topic, whatever address the message has', async () => {
    const { ask, asked } = asking(200)
    const message = { ...JSON.parse(CONFIRMATION.toString('utf8')), SubscribeURL: 'https://evil.example/' }
    await confirmSubscription(signSns(JSON.stringify(message)), SAMPLE_TOPIC, ask)
    const [url] = asked.map((text) => new URL(text))
    expect([asked.length, url?.host]).toEqual([1, 'sns.us-west-2.amazonaws.com'])
    expect(Object.fromEntries(url?.searchParams ?? [])).toEqual({
      Action: 'ConfirmSubscription',
      TopicArn: SAMPLE_TOPIC,
      Token: message.Token,
    })
  })

  it('asks nothing for another topic or for what is no confirmation', async () => {
    const { ask, asked } = asking(200)
    const other = 'arn:aws:sns:us-west-2:111111111111:sandbox_platform-notifications-topic'
    for (const [body, topic] of [
      [signSns(CONFIRMATION), other],
      [paymentBody('paid'), SAMPLE_TOPIC],
      ['{}', SAMPLE_TOPIC],
    ] as const) {
      await expect(confirmSubscription(body, topic, ask)).rejects.toMatchObject({ code: 'config_invalid' })
    }
    expect(asked).toEqual([])
    const no = confirmSubscription(signSns(CONFIRMATION), SAMPLE_TOPIC, asking(400).ask)
    await expect(no).rejects.toMatchObject({ code: 'provider_unavailable', retriable: false })
  })
})

describe('what Mint tells', () => {
  const contents = (body: Uint8Array) => translate(body).facts.map(({ content }) => content)

  it('P18 reads amounts exactly, and none that is finer than its currency', () => {
    const amount = (text: unknown, currency = 'USD') =>
      paymentBody('paid', { amount: { amount: text, currency } })
    expect(contents(amount('1.50'))).toMatchObject([{ amount_minor: 150n, currency: 'USD' }])
    expect(contents(amount('1.500000', 'EUR'))).toMatchObject([{ amount_minor: 150n, currency: 'EUR' }])
    for (const body of [amount('1.234567'), amount(1.5), amount('1.50', 'BTC'), amount(undefined)]) {
      expect(translate(body)).toMatchObject({ outcome: 'unreadable', facts: [] })
    }
    const tokens = [{ code: 'BTC', decimals: 8 }]
    expect(translate(amount('0.00000001', 'BTC'), { tokens }).facts[0]?.content).toMatchObject({
      amount_minor: 1n,
    })
  })

  it('compares what was captured, where a card payment tells it', () => {
    const body = paymentBody('paid', { captureAmount: { amount: '50.00', currency: 'USD' } })
    expect(contents(body)).toMatchObject([{ amount_minor: 5000n }])
  })

  it('takes the newest step of an intent by its time, wherever it stands', () => {
    const steps = [
      { status: 'created', time: '2025-10-09T08:00:00Z' },
      { status: 'expired', time: '2025-10-09T16:00:00Z' },
      { status: 'pending', time: '2025-10-09T08:01:00Z' },
    ]
    for (const timeline of [steps, [...steps].reverse()]) {
      expect(translate(intentBody('created', { timeline })).facts).toMatchObject([{ key: 'payment/expired' }])
    }
  })

  it('joins no intent to one of several payments', () => {
    const paymentIds = ['66c56b6a-fc79-438b-8b94-aacc4f0f1801', '66c56b6a-fc79-438b-8b94-aacc4f0f1802']
    expect(translate(intentBody('complete', { paymentIds }))).toMatchObject({
      outcome: 'facts',
      facts: [],
      lookups: paymentIds.map((id) => ({ object: 'payment', id })),
    })
    expect(translate(intentBody('complete')).outcome).toBe('unreadable')
    expect(translate(intentBody('active', { type: 'continuous' })).outcome).toBe('ignored')
  })

  it('sees a second chargeback as a later stage', () => {
    const body = chargebackBody('active', ['1st Chargeback', 'Representment', '2nd Chargeback'])
    expect(contents(body)).toMatchObject([
      { stage: 'second_chargeback', status: 'needs_response', amount_minor: 5243n },
    ])
    expect(contents(chargebackBody('won', ['1st Chargeback', 'Chargeback Reversal']))).toMatchObject([
      { stage: 'chargeback', status: 'won', at: '2025-10-09T08:54:20.000Z' },
    ])
  })
})

describe('configuration', () => {
  const live = 'arn:aws:sns:us-west-2:000000000000:prod_platform-notifications-topic'
  const made = (options: Partial<CircleMintOptions>) => () =>
    circleMint({ topicArn: SAMPLE_TOPIC, clientIds: [SAMPLE_CLIENT], ...options })

  it('tells the mode by topic, option and key, which have to agree', () => {
    expect(made({})().secrets_mode).toBe('test')
    expect(made({ topicArn: live })().secrets_mode).toBe('live')
    expect(made({ topicArn: live.replace('prod_', ''), mode: 'live' })().secrets_mode).toBe('live')
    for (const options of [
      { mode: 'live' as const },
      { apiKey: 'LIVE_API_KEY:a1:b2' },
      { topicArn: live, apiKey: 'SAND_API_KEY:a1:b2' },
      { topicArn: live, certificates: { [SAMPLE_CERTIFICATE_URL]: SAMPLE_CERTIFICATE } },
      { topicArn: live.replace('prod_', '') },
      { topicArn: 'arn:aws:sqs:us-west-2:000000000000:prod_platform-notifications-topic' },
      { topicArn: 'arn:aws:sns:evil.example/:000000000000:prod_x' },
      { clientIds: ['client'] },
      { certificates: { 'https://evil.example/a.pem': SAMPLE_CERTIFICATE } },
      { tokens: [{ code: 'USD', decimals: 6 }] },
    ]) {
      expect(made(options)).toThrow(expect.objectContaining({ code: 'config_invalid' }))
    }
    expect(made({ apiKey: '<key>' })).toThrow(expect.objectContaining({ code: 'secret_missing' }))
  })
})
