import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { LabelledSecret } from '../secret.ts'
import type { EventRow, Specimen, Vector } from '../specimen.ts'
import type { GitHubOptions } from './index.ts'
import { github } from './index.ts'
import { formBody, signGitHub } from './sample.ts'

const SAMPLES = new URL('./samples/', import.meta.url)

export function sample(name: string): Buffer {
  return readFileSync(new URL(`${name}.json`, SAMPLES))
}

/** The key pair of a made-up App, new each time. */
export const APP_KEYS = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

/** A provider with both credentials. */
export function asking(options: Partial<GitHubOptions> = {}) {
  return github({
    webhookSecrets: 'gh-test-secret-0001',
    marketplace: { appId: 'Iv1.0123456789abcdef', privateKey: APP_KEYS.privateKey },
    sponsorsToken: 'ghp_forTestsOnly',
    ...options,
  })
}

const older: LabelledSecret = { label: 'older', secret: 'gh-test-secret-older' }
const newer: LabelledSecret = { label: 'newer', secret: 'gh-test-secret-newer' }

function vector(name: string, secret: string, body: string, signature: string): Vector {
  return {
    name,
    provider: github({ webhookSecrets: [{ label: 'only', secret }] }),
    secret_label: 'only',
    now_ms: 1_760_000_000_000,
    delivery: { method: 'POST', headers: { 'x-hub-signature-256': signature }, body: Buffer.from(body) },
  }
}

/** Account and effective date of the sample, then what it asks. */
const ORG = '990417'
const S = 'S_kwHOABCDEF84AAQx'

function row(name: string, facts: readonly string[], lookup?: readonly [string, string]): EventRow {
  const outcome = facts.length > 0 || lookup ? 'facts' : 'ignored'
  const lookups = lookup && [{ object: lookup[0], id: lookup[1] }]
  return { event: name, body: sample(name), facts, outcome, lookups, payment: 'none' }
}

const EVENTS: readonly EventRow[] = [
  row(
    'marketplace_purchase.purchased',
    [`${ORG} / status/2026-03-03T00:00:00.000Z/active`],
    ['marketplace_account', ORG],
  ),
  row(
    'marketplace_purchase.purchased.trial',
    ['880417 / status/2026-03-05T00:00:00.000Z/trialing'],
    ['marketplace_account', '880417'],
  ),
  row(
    'marketplace_purchase.changed',
    [`${ORG} / status/2026-04-03T00:00:00.000Z/active`],
    ['marketplace_account', ORG],
  ),
  row('marketplace_purchase.pending_change', []),
  row('marketplace_purchase.pending_change_cancelled', []),
  row(
    'marketplace_purchase.cancelled',
    [`${ORG} / status/2026-06-03T00:00:00.000Z/paused`],
    ['marketplace_cancellation', ORG],
  ),
  row(
    'sponsorship.created',
    [`${S} / status/2026-03-03T12:00:00.000Z/active`],
    ['sponsorship', `${S}/ST_kwDOAAExM84AAQ5`],
  ),
  row(
    'sponsorship.created.one_time',
    ['S_kwHOABCDEF84AAQy / status/2026-03-04T09:30:00.000Z/active'],
    ['sponsorship', 'S_kwHOABCDEF84AAQy/ST_kwDOAAExM84AAQ99'],
  ),
  row('sponsorship.edited', []),
  row('sponsorship.tier_changed', [], ['sponsorship', `${S}/ST_kwDOAAExM84AAQ20`]),
  row('sponsorship.pending_tier_change', []),
  row('sponsorship.pending_cancellation', []),
  row('sponsorship.cancelled', [], ['sponsorship_cancellation', S]),
  row('ping', []),
]

/** As the event that the body is; what is no event of GitHub's goes without a claim. */
function sign(body: Uint8Array, secret: string) {
  const event = /"(marketplace_purchase|sponsorship)":\{/.exec(Buffer.from(body).toString('latin1'))?.[1]
  const { 'x-github-event': _, ...headers } = signGitHub('', body, secret)
  return { method: 'POST', headers: event ? { ...headers, 'x-github-event': event } : headers, body }
}

export const specimen: Specimen = {
  provider: asking({ webhookSecrets: [older, newer] }),
  providerOfSecond: asking({ webhookSecrets: [newer] }),
  secrets: [older, newer],
  sign,
  headers: ['x-hub-signature-256'],
  tolerance_s: null,
  events: EVENTS,
  vectors: [
    vector(
      "the worked example of GitHub's documentation",
      "It's a Secret to Everybody",
      'Hello, World!',
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    ),
    vector(
      'a sponsorship, beyond ASCII',
      'gh-test-secret-0001',
      '{"action":"created","sponsorship":{"node_id":"S_kwTest000001","created_at":"2026-03-03T12:00:00+00:00","sponsorable":{"login":"example-maintainer","id":770001,"node_id":"U_test770001","type":"User","site_admin":false},"sponsor":{"login":"example-user","id":880001,"node_id":"U_test880001","type":"User","site_admin":false},"privacy_level":"public","tier":{"node_id":"ST_kwTest0001","created_at":"2025-11-01T10:00:00Z","description":"Thank you ☕","monthly_price_in_cents":500,"monthly_price_in_dollars":5,"name":"$5 a month","is_one_time":false,"is_custom_amount":false}},"sender":{"login":"example-user","id":880001,"node_id":"U_test880001","type":"User","site_admin":false}}',
      'sha256=54cc96b32abf0f687e1abd793467ba365b7152b91f0e93140579df2c21f44fb5',
    ),
    vector(
      'a form, signed as it is encoded',
      'gh-test-secret-0001',
      formBody('{"zen":"café"}'),
      'sha256=ce560f526b283e7cfa8f3f1b39e96f5c885599cd07aaf3513ed5af4816b879cc',
    ),
  ],
}
