import type { LabelledSecret } from '../secret.ts'
import type { Specimen } from '../specimen.ts'
import { signStandardWebhook } from '../standard-webhooks/sample.ts'
import { eventRows } from './event-rows.ts'
import { dodoPayments } from './index.ts'

const older: LabelledSecret = { label: 'older', secret: 'whsec_qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq' }
const newer: LabelledSecret = { label: 'newer', secret: 'whsec_VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV' }

const ofVectors = dodoPayments({
  webhookSecrets: [{ label: 'only', secret: 'whsec_ZG9kb1ZlY3RvclNlY3JldEtleS0wMTIz' }],
})

/** Signatures computed apart from this code; the official SDK verifies them. */
export const specimen: Specimen = {
  provider: dodoPayments({ webhookSecrets: [older, newer] }),
  providerOfSecond: dodoPayments({ webhookSecrets: [newer] }),
  secrets: [older, newer],
  sign: (body, secret, now_ms) => ({
    method: 'POST',
    headers: signStandardWebhook(body, secret, 'msg_qx1001', now_ms),
    body,
  }),
  headers: ['webhook-signature', 'webhook-id', 'webhook-timestamp'],
  tolerance_s: 300,
  events: eventRows,
  vectors: [
    {
      name: 'one signature',
      provider: ofVectors,
      secret_label: 'only',
      now_ms: 1_760_000_000_000,
      delivery: {
        method: 'POST',
        headers: {
          'webhook-id': 'msg_dodoVec1',
          'webhook-timestamp': '1760000000',
          'webhook-signature': 'v1,VkV/ErEeC/Yd3iQlx/NgV4kB9UFzwiRIcNKd2sB5hkI=',
        },
        body: Buffer.from(
          '{"business_id":"bus_vec1","type":"payment.succeeded","timestamp":"2025-10-09T08:53:20.123456Z","data":{"payload_type":"Payment","payment_id":"pay_vec1","total_amount":2165,"currency":"USD","tax":166,"status":"succeeded","metadata":{"order_id":"ORD-1001"}}}',
        ),
      },
    },
    {
      name: 'two signatures, the first by an older key, body beyond ASCII',
      provider: ofVectors,
      secret_label: 'only',
      now_ms: 1_760_000_123_000,
      delivery: {
        method: 'POST',
        headers: {
          'webhook-id': 'msg_dodoVec2',
          'webhook-timestamp': '1760000123',
          'webhook-signature':
            'v1,XbepDLzq/bYUl4UkFvwya03VB/C/9MmsJVTyS9U81ZM= v1,ZL8xZfQRjXkMrUycnrynQ82lyZMjJNIEEiJ3Hs3eCPM=',
        },
        body: Buffer.from(
          '{"business_id":"bus_vec1","type":"refund.succeeded","timestamp":"2025-10-09T08:55:23Z","data":{"payload_type":"Refund","refund_id":"ref_vec2","payment_id":"pay_vec1","amount":1000,"currency":"USD","is_partial":true,"status":"succeeded","reason":"Café ☕ – £5"}}',
        ),
      },
    },
  ],
}
