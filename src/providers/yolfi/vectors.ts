import type { LabelledSecret } from '../secret.ts'
import type { Specimen } from '../specimen.ts'
import { eventRows } from './event-rows.ts'
import { yolfi } from './index.ts'
import { signYolfi } from './sample.ts'

const older: LabelledSecret = { label: 'older', secret: 'yolfi-endpoint-secret-qx-01' }
const newer: LabelledSecret = { label: 'newer', secret: 'yolfi-endpoint-secret-qx-02' }
const ofVectors = yolfi({ webhookSecrets: [{ label: 'only', secret: 'yolfi-endpoint-secret-0001' }] })

/**
 * Signatures computed with OpenSSL. `x-yolfi-event-id` is not among the headers: it may be missing, and what it must
 * not be is tested in this folder.
 */
export const specimen: Specimen = {
  provider: yolfi({ webhookSecrets: [older, newer], apiKey: 'yolfi_test_key' }),
  providerOfSecond: yolfi({ webhookSecrets: [newer] }),
  secrets: [older, newer],
  sign: (body, secret) => ({ method: 'POST', headers: signYolfi(body, secret), body }),
  headers: ['x-yolfi-signature'],
  repeated: 'refused',
  tolerance_s: null,
  events: eventRows,
  vectors: [
    {
      name: 'a confirmed payment, body beyond ASCII',
      provider: ofVectors,
      secret_label: 'only',
      now_ms: 1_772_540_000_000,
      delivery: {
        method: 'POST',
        headers: {
          'x-yolfi-signature': 'STkKO8GoRukFO3FA+8yCiTtecd+auaWuctpn5xr6C/s=',
          'x-yolfi-event-id': 'evt_9b6d2f0a41c84e55',
        },
        body: Buffer.from(
          '{"id":"evt_9b6d2f0a41c84e55","type":"payment.confirmed","created":1772539961,"livemode":true,"orgId":"org_test_0001","data":{"invoiceId":"inv_5f0c2a9e77b1","checkoutSessionId":"ycs_0123456789abcdef0123456789abcdef","merchantOrderId":"ORD-1001","paymentType":"ONE_TIME","status":"CONFIRMED","productName":"Café pass","amount":"24.75","symbol":"USDC","network":"ARB","amountUsd":"24.7500000000","sourceAmount":"23.00","currency":"EUR","customer":{"email":"buyer@example.com","clientReferenceId":"user_8841"},"metadata":{"cartId":"c-77"},"createdAt":"2026-03-03T12:10:02.000Z","updatedAt":"2026-03-03T12:12:41.000Z"}}',
        ),
      },
    },
    {
      name: 'a trial without the header of the id',
      provider: ofVectors,
      secret_label: 'only',
      now_ms: 1_772_540_000_000,
      delivery: {
        method: 'POST',
        headers: { 'x-yolfi-signature': 'sW/Ank86T86LpcySbG2f7QELmbdWkG6sAA974Um+m1k=' },
        body: Buffer.from(
          '{"id":"evt_test_1","type":"payment.confirmed","livemode":false,"data":{"productName":"café"}}',
        ),
      },
    },
  ],
}
