import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Translation } from '../../facts/event.ts'
import { depositBody, transferBody } from './event-rows.ts'
import { SAMPLE_TOKENS, sampleEndpoint } from './sample.ts'
import { SAMPLE_KEY } from './sample-key.ts'
import type { CircleWalletsOptions } from './wallets.ts'
import { circleWallets } from './wallets.ts'

const ACCEPTED = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
const apiKey = 'TEST_API_KEY:0a1b2c:3d4e5f'

function translate(body: Uint8Array, options: Partial<CircleWalletsOptions> = {}): Translation {
  const provider = circleWallets({ ...sampleEndpoint, ...options })
  return provider.translate({ method: 'POST', headers: {}, body }, ACCEPTED)
}

/** What the facts of a body say, by their keys. */
function told(body: Uint8Array, options: Partial<CircleWalletsOptions> = {}): Record<string, object> {
  return Object.fromEntries(translate(body, options).facts.map(({ key, content }) => [key, content]))
}

function envelope(changed: object, body = depositBody('COMPLETE')): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(body.toString('utf8')), ...changed }))
}

describe('a deposit', () => {
  it('P01 is a success at COMPLETE and at no state before it', () => {
    expect(Object.keys(told(depositBody('CONFIRMED')))).toEqual(['payment/pending'])
    expect(told(depositBody('COMPLETE'))).toEqual({
      'payment/succeeded': {
        milestone: 'succeeded',
        amount_minor: 52_430_000n,
        currency: 'USDC',
        method: 'crypto',
        moved_at: '2025-10-09T08:53:20.000Z',
        order: 'A-1001',
        reason: undefined,
      },
    })
  })

  it('is known by its Circle id: null hashes and two transfers in one transaction stay apart', () => {
    const txHash = `0x${'ab'.repeat(32)}`
    const [one, other] = ['9b2f5d7c-1c2e-4b3a-8e4f-5a6b7c8d9e21', '9b2f5d7c-1c2e-4b3a-8e4f-5a6b7c8d9e22']
    for (const hash of [null, txHash]) {
      const subjects = [one, other].map(
        (id) => translate(depositBody('COMPLETE', { id, txHash: hash })).facts[0]?.subject,
      )
      expect(subjects).toMatchObject([{ id: one }, { id: other }])
    }
    expect(JSON.stringify(Object.values(told(depositBody('SENT', { txHash }))).map(String))).not.toContain(
      txHash,
    )
  })

  it('P18 counts in the decimals of its token, exactly or not at all', () => {
    const amount = (text: unknown) => translate(depositBody('COMPLETE', { amounts: [text] }))
    expect(amount('25.5').facts[0]?.content).toMatchObject({ amount_minor: 25_500_000n })
    expect(amount('0.000001').facts[0]?.content).toMatchObject({ amount_minor: 1n })
    for (const odd of ['0.0000001', '1e3', '-1', '1,000', '', 25.5, null]) {
      expect(amount(odd)).toMatchObject({ outcome: 'unreadable', facts: [] })
    }
    for (const amounts of [[], ['1', '2'], null, '1']) {
      expect(translate(depositBody('COMPLETE', { amounts })).outcome).toBe('unreadable')
    }
  })

  it('P18 reads any amount of a token with any decimals back exactly', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.integer({ min: 0, max: 18 }),
        (minor, decimals) => {
          const digits = `${minor}`.padStart(decimals + 1, '0')
          const point = digits.length - decimals
          const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
          const tokens = [{ ...SAMPLE_TOKENS[0]!, decimals }]
          const { facts } = translate(depositBody('COMPLETE', { amounts: [text] }), { tokens })
          expect(facts[0]?.content).toMatchObject({ amount_minor: minor })
        },
      ),
    )
  })

  it('P56 of a token that is not configured for its chain is never money of ours', () => {
    const odd = [
      { tokenId: '00aa11bb-22cc-43dd-84ee-55ff66aa77bb' },
      { blockchain: 'ETH-SEPOLIA' },
      { tokenId: null },
    ]
    for (const changed of odd) {
      expect(translate(depositBody('COMPLETE', changed))).toMatchObject({ outcome: 'not_ours', facts: [] })
    }
  })

  it('waits for somebody when nothing tells its order, and refuses an answer that is no reference', () => {
    expect(told(depositBody('COMPLETE'), { orderOf: undefined })).toMatchObject({
      'payment/succeeded': { order: undefined },
    })
    expect(told(depositBody('COMPLETE'), { orderOf: () => undefined })).toMatchObject({
      'payment/succeeded': { order: undefined },
    })
    const odd = [() => '', () => Promise.resolve('A-1001'), () => 7, () => JSON.parse('broken')]
    for (const orderOf of odd) {
      const answer = translate(depositBody('COMPLETE'), { orderOf: orderOf as () => string })
      expect(answer).toMatchObject({ outcome: 'unreadable', facts: [] })
    }
  })

  it('gives orderOf what may have been arranged: address, wallet, sender, token and exact amount', () => {
    const seen: unknown[] = []
    translate(depositBody('COMPLETE'), { orderOf: (deposit) => void seen.push(deposit) as undefined })
    expect(seen).toEqual([
      {
        walletId: 'ce714f5b-0d8e-4062-9454-61aa1154869b',
        blockchain: 'ARC-TESTNET',
        destinationAddress: expect.stringMatching(/^0x/),
        sourceAddress: expect.stringMatching(/^0x1/),
        currency: 'USDC',
        amount_minor: 52_430_000n,
      },
    ])
  })

  it('keeps a failure with its code', () => {
    expect(told(depositBody('FAILED'))).toMatchObject({ 'payment/failed': { reason: 'FAILED_ON_CHAIN' } })
    expect(told(depositBody('DENIED'))).toMatchObject({ 'payment/failed': { reason: 'DENIED' } })
  })

  it('is unreadable as a contract call, and when type and direction disagree', () => {
    expect(translate(depositBody('COMPLETE', { operation: 'CONTRACT_EXECUTION' })).outcome).toBe('unreadable')
    const crossed = envelope({ notificationType: 'transactions.outbound' })
    expect(translate(crossed).outcome).toBe('unreadable')
  })
})

describe('an outgoing transfer', () => {
  it('P15 is a refund by our refId, with its own amount', () => {
    expect(translate(transferBody('COMPLETE')).facts).toMatchObject([
      {
        subject: { namespace: 'circle', id: '9b2f5d7c-1c2e-4b3a-8e4f-5a6b7c8d9e11' },
        content: { milestone: 'succeeded', amount_minor: 5_000_000n, currency: 'USDC' },
      },
    ])
  })

  it('is a refund by a refId of the merchant, where the configuration says how to read it', () => {
    const refundOf = (refId: string) => /^refund-(.+)$/.exec(refId)?.[1]
    const body = transferBody('COMPLETE', { refId: 'refund-9b2f5d7c-1c2e-4b3a-8e4f-5a6b7c8d9e31' })
    expect(translate(body).outcome).toBe('ignored')
    expect(translate(body, { refundOf }).facts[0]?.subject).toMatchObject({
      id: '9b2f5d7c-1c2e-4b3a-8e4f-5a6b7c8d9e31',
    })
  })
})

describe('the envelope', () => {
  it('tells live from test by the chain', () => {
    const modes = [
      'ARC-TESTNET',
      'ETH-SEPOLIA',
      'MATIC-AMOY',
      'SOL-DEVNET',
      'AVAX-FUJI',
      'ARC',
      'ETH',
      'SOL',
    ].map((blockchain) => translate(depositBody('COMPLETE', { blockchain })).mode)
    expect(modes).toEqual(['test', 'test', 'test', 'test', 'test', 'live', 'live', 'live'])
  })

  it('P28 gives each test message an id of its own, which no real event can have', () => {
    const zero = '00000000-0000-0000-0000-000000000000'
    const test = (timestamp: string) =>
      translate(
        envelope({
          notificationType: 'webhooks.test',
          subscriptionId: zero,
          notificationId: zero,
          timestamp,
        }),
      )
    const [one, other] = [test('2025-10-09T08:50:00.000000001Z'), test('2025-10-09T08:50:00.000000002Z')]
    expect(one).toMatchObject({ outcome: 'ignored', facts: [], mode: null, account: null })
    expect(one.event_id).not.toBe(other.event_id)
    expect(translate(envelope({ notificationId: zero })).event_id).toBeNull()
  })

  it('P27 settles nothing of a subscription that is not ours, although Circle signed it', () => {
    const subscriptionId = '11111111-2222-4333-8444-555555555555'
    const foreign = translate(envelope({ subscriptionId }))
    expect(foreign).toMatchObject({ outcome: 'not_ours', account: subscriptionId, facts: [] })
    expect(translate(envelope({ subscriptionId: undefined })).outcome).toBe('not_ours')
    expect(translate(depositBody('COMPLETE'), { subscriptionIds: [] }).outcome).toBe('not_ours')
    expect(translate(depositBody('COMPLETE'), { account: 'shop' }).account).toBe('shop')
  })

  it('P30 keeps another version of the envelope as unreadable', () => {
    expect(translate(envelope({ version: 3 }))).toMatchObject({
      outcome: 'unreadable',
      reason: 'version is not 2',
    })
  })

  it('ignores types that the endpoint does not expect', () => {
    expect(translate(depositBody('COMPLETE'), { expects: ['transactions.outbound'] }).outcome).toBe('ignored')
  })
})

describe('configuration', () => {
  const refused = (options: Partial<CircleWalletsOptions>) => () =>
    circleWallets({ ...sampleEndpoint, publicKeys: {}, apiKey, ...options })

  it.each<[string, Partial<CircleWalletsOptions>]>([
    ['no key at all', { apiKey: undefined }],
    ['a blank API key', { apiKey: ' ' }],
    ['a placeholder', { apiKey: 'your-api-key' }],
    ['a blank entity secret', { refunds: { entitySecret: '' } }],
  ])('refuses %s as a missing secret', (_, options) => {
    expect(refused(options)).toThrow(expect.objectContaining({ code: 'secret_missing' }))
  })

  it.each<[string, Partial<CircleWalletsOptions>]>([
    ['no tokens', { tokens: [] }],
    ['a token by the address of its contract', { tokens: [{ ...SAMPLE_TOKENS[0]!, tokenId: '0x36' }] }],
    ['a token twice', { tokens: [SAMPLE_TOKENS[0]!, SAMPLE_TOKENS[0]!] }],
    ['one code on two scales', { tokens: [SAMPLE_TOKENS[0]!, { ...SAMPLE_TOKENS[1]!, decimals: 18 }] }],
    ['a token that is called like a currency', { tokens: [{ ...SAMPLE_TOKENS[0]!, code: 'USD' }] }],
    ['a subscription that is no uuid', { subscriptionIds: ['sub_1'] }],
    ['a key that is none', { publicKeys: { [SAMPLE_KEY.id]: 'MFkw' } }],
    ['the sample key beside a live API key', { ...sampleEndpoint, apiKey: 'LIVE_API_KEY:0a1b2c:3d4e5f' }],
    ['an entity secret that is not 32 bytes', { refunds: { entitySecret: 'abcd' } }],
    ['plain http', { baseUrl: 'http://api.circle.com' }],
  ])('refuses %s', (_, options) => {
    expect(refused(options)).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })

  it('tells the mode by the prefix of the API key, and takes the sample key for tests only', () => {
    expect(refused({})().secrets_mode).toBe('test')
    expect(refused({ apiKey: 'LIVE_API_KEY:0a1b2c:3d4e5f' })().secrets_mode).toBe('live')
    expect(refused({ apiKey: '0a1b2c3d4e5f' })().secrets_mode).toBeNull()
    expect(circleWallets(sampleEndpoint)).toMatchObject({ secrets_mode: 'test', lookup: undefined })
  })

  it('accepts HEAD, which Circle asks before it makes a subscription', () => {
    expect(circleWallets(sampleEndpoint).methods).toEqual(['POST', 'HEAD'])
  })
})
