import type { LabelledSecret } from '../secret.ts'
import type { Specimen } from '../specimen.ts'
import { eventRows } from './event-rows.ts'
import { stripe } from './index.ts'
import { signStripe } from './sample.ts'

const older: LabelledSecret = { label: 'older', secret: 'whsec_testVectorOld' }
const newer: LabelledSecret = { label: 'newer', secret: 'whsec_testVectorNew' }

/** Signatures made with the official SDK 23.1.0. */
export const specimen: Specimen = {
  provider: stripe({ webhookSecrets: [older, newer], apiKey: 'sk_test_forVectorsOnly' }),
  providerOfSecond: stripe({ webhookSecrets: [newer] }),
  secrets: [older, newer],
  sign: (body, secret, now_ms) => ({ method: 'POST', headers: signStripe(body, secret, now_ms), body }),
  headers: ['stripe-signature'],
  tolerance_s: 300,
  events: eventRows,
  vectors: [
    {
      name: 'one secret, compact body',
      provider: stripe({
        webhookSecrets: [{ label: 'only', secret: 'whsec_testVectorOne0123456789abcdef' }],
      }),
      secret_label: 'only',
      now_ms: 1_760_000_000_000,
      delivery: {
        method: 'POST',
        headers: {
          'stripe-signature':
            't=1760000000,v1=137da954c25000ba477208e719f58460a90e4ccd399a252b534c1c4962c02c41',
        },
        body: Buffer.from(
          '{"id":"evt_vec1","object":"event","type":"payment_intent.succeeded","data":{"object":{"id":"pi_vec1","amount_received":1999,"currency":"usd"}}}',
        ),
      },
    },
    {
      name: 'both secrets of a rotation and a decoy, indented body beyond ASCII',
      provider: stripe({ webhookSecrets: [older, newer] }),
      secret_label: 'older',
      now_ms: 1_760_000_123_000,
      delivery: {
        method: 'POST',
        headers: {
          'stripe-signature':
            't=1760000123,v1=f7850bae5ea3309dff142c866a70d96bc89f13c8631c2d265fb7a9db20ee4c30,v1=cce587936f1e25f3aedf2b200227ef4df9aaf2edcfb37fc73c95332205f4d358,v0=0000000000000000000000000000000000000000000000000000000000000000',
        },
        body: Buffer.from(
          '{\n  "id": "evt_vec2",\n  "object": "event",\n  "type": "charge.refunded",\n  "data": { "object": { "id": "ch_vec2", "description": "Café ☕ – £5" } }\n}',
        ),
      },
    },
  ],
}
