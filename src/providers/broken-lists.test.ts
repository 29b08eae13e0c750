import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAsk } from './ask.ts'
import { circleMint, circleWallets } from './circle/index.ts'
import { sampleEndpoint } from './circle/sample.ts'
import type { Provider } from './contract.ts'
import { dodoPayments } from './dodo-payments/index.ts'
import { type FakeServer, startFakeServer } from './fake-server.ts'
import type { ListedKind } from './lookup.ts'
import { paddle } from './paddle/index.ts'
import { standIn } from './paypal/vectors.ts'
import { stripe } from './stripe/index.ts'
import { yolfi } from './yolfi/index.ts'

const NOW_MS = 1_760_000_000_000
const context = { now_ms: NOW_MS, limit_ms: 5_000, ask: newAsk(fetch, () => NOW_MS) }
const TOKEN = { access_token: 'token', token_type: 'Bearer', expires_in: 32_400 }
const TOPIC = 'arn:aws:sns:us-west-2:000000000000:sandbox_platform-notifications-topic'

let body: object = {}
let asked = 0
let server: FakeServer

beforeAll(async () => {
  server = await startFakeServer(({ path }) => {
    asked += 1
    // What goes on for ever must end somewhere, and the test must see it.
    if (asked > 50) return { status: 500 }
    return { status: 200, body: path.endsWith('/oauth2/token') ? TOKEN : body }
  })
})
afterAll(() => server.close())

const circle = { apiKey: 'TEST_API_KEY:0a1b2c:3d4e5f', publicKeys: {} }
const PROVIDERS: Readonly<Record<string, (baseUrl: string) => Provider>> = {
  stripe: (apiUrl) =>
    stripe({ webhookSecrets: 'whsec_forTestsOnly', apiKey: 'sk_test_forTestsOnly', apiUrl }),
  paypal: (baseUrl) => standIn({ baseUrl, fetcher: fetch }),
  'circle wallets': (baseUrl) => circleWallets({ ...sampleEndpoint, ...circle, baseUrl }),
  'circle mint': (baseUrl) => circleMint({ topicArn: TOPIC, clientIds: [], apiKey: circle.apiKey, baseUrl }),
  'dodo-payments': (baseUrl) =>
    dodoPayments({ webhookSecrets: `whsec_${'q'.repeat(32)}`, apiKey: 'dodo_test_key', baseUrl }),
  yolfi: (baseUrl) =>
    yolfi({ webhookSecrets: 'yolfi-endpoint-secret-0001', apiKey: 'yolfi_test_key', baseUrl }),
  paddle: (baseUrl) =>
    paddle({
      webhookSecrets: 'pdl_ntfset_01forTestsOnly_abcdefghijklmnop',
      apiKey: 'pdl_sdbx_apikey_01forTestsOnly',
      baseUrl,
    }),
}

async function listing(name: string, kind: ListedKind, answer: object): Promise<number> {
  ;[body, asked] = [answer, 0]
  const { lookup } = PROVIDERS[name]!(server.url)
  let items = 0
  const window = { from_ms: NOW_MS - 60_000, to_ms: NOW_MS }
  for await (const page of lookup!.list!(kind, window, context)) items += page.length
  return items
}

const BROKEN = { code: 'provider_unavailable' }

describe('P41 a list that is none says nothing about what is there', () => {
  it.each(Object.keys(PROVIDERS))('of %s', async (name) => {
    await expect(listing(name, 'payments', {})).rejects.toMatchObject(BROKEN)
    await expect(listing(name, 'payments', { data: {} })).rejects.toMatchObject(BROKEN)
  })

  it.each<[string, ListedKind, object]>([
    ['stripe', 'refunds', { object: 'list', data: [{}], has_more: true }],
    ['stripe', 'refunds', { object: 'list', data: [{ id: 're_1' }] }],
    ['stripe', 'refunds', { object: 'list', data: [{ id: 're_1', charge: 'ch_1' }], has_more: true }],
    ['paypal', 'disputes', {}],
    [
      'paypal',
      'disputes',
      { items: [], links: [{ rel: 'next', href: 'https://api-m.paypal.com/elsewhere' }] },
    ],
    [
      'paypal',
      'disputes',
      { items: [], links: [{ rel: 'next', href: 'https://api-m.paypal.com/v1/customer/disputes?page=2' }] },
    ],
    ['dodo-payments', 'refunds', { items: [{ refund_id: 'ref_1' }] }],
  ])('of %s, whose %s do not end: %j', async (name, kind, answer) => {
    await expect(listing(name, kind, answer)).rejects.toMatchObject(BROKEN)
    expect(asked).toBeLessThan(10)
  })

  it.each<[string, ListedKind, object]>([
    ['stripe', 'payments', { object: 'list', data: [], has_more: false }],
    ['paypal', 'payments', { transaction_details: [], total_items: 0, total_pages: 0 }],
    ['paypal', 'payments', { transaction_details: [] }],
    ['paypal', 'disputes', { items: [], links: [] }],
    ['circle wallets', 'payments', { data: { transactions: [] } }],
    ['circle mint', 'payments', { data: [] }],
    ['dodo-payments', 'payments', { items: [] }],
    ['yolfi', 'payments', { data: [], hasMore: false }],
  ])('of %s, while one that is empty does', async (name, kind, answer) => {
    expect(await listing(name, kind, answer)).toBe(0)
  })
})
