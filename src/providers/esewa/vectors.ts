import type { LabelledSecret } from '../secret.ts'
import type { EventRow, Specimen } from '../specimen.ts'
import { esewa } from './index.ts'
import { esewaReturn, resigned } from './sample.ts'

/** The secret of the test environment, which eSewa publishes. */
const published: LabelledSecret = { label: 'published', secret: '8gBm/:&EnhH.1/q' }
const other: LabelledSecret = { label: 'other', secret: 'another-merchant-secret' }

const test = { productCode: 'EPAYTEST', mode: 'test' } as const

/** The words of the status API; in a redirect they say which payment to ask about, and nothing else. */
function row(status: string): EventRow {
  const body = esewaReturn({ payment: 'ORD-1001-A1', amount_minor: 270_000n, status }, published.secret)
  return {
    event: status,
    body: Buffer.from(body),
    facts: [],
    outcome: 'facts',
    lookups: [{ object: 'payment', id: 'ORD-1001-A1' }],
    payment: 'named',
  }
}

function vector(name: string, json: string): Specimen['vectors'][number] {
  const data = encodeURIComponent(Buffer.from(json).toString('base64'))
  return {
    name,
    provider: esewa({ ...test, secret: [published] }),
    secret_label: 'published',
    now_ms: 1_760_000_000_000,
    delivery: { method: 'POST', headers: {}, body: Buffer.from(`data=${data}`) },
  }
}

const NAMES = 'transaction_code,status,total_amount,transaction_uuid,product_code,signed_field_names'

export const specimen: Specimen = {
  provider: esewa({ ...test, secret: [published, other] }),
  providerOfSecond: esewa({ ...test, secret: [other] }),
  secrets: [published, other],
  sign: (body, secret) => ({ method: 'POST', headers: {}, body: resigned(body, secret) }),
  headers: [],
  tolerance_s: null,
  syntax: 'form',
  vectors: [
    vector(
      'the amount as text with a comma',
      `{"transaction_code":"0009TST","status":"COMPLETE","total_amount":"2,700.0","transaction_uuid":"ORD-1001-A1","product_code":"EPAYTEST","signed_field_names":"${NAMES}","signature":"Somjx2rNPQ/K8sG2JEkLO6e60Qo1sQ/jJ9XRhXJtZ9A="}`,
    ),
    vector(
      'the amount as a bare number whose zero counts',
      `{"transaction_code":"0009TST","status":"COMPLETE","total_amount":2700.0,"transaction_uuid":"ORD-1001-A1","product_code":"EPAYTEST","signed_field_names":"${NAMES}","signature":"fojaQGVSr7kF3lHYPfvGHXwOZXCzhym394K3alBwOHg="}`,
    ),
  ],
  events: [
    'COMPLETE',
    'PENDING',
    'AMBIGUOUS',
    'FULL_REFUND',
    'PARTIAL_REFUND',
    'CANCELED',
    'NOT_FOUND',
    'complete',
  ].map(row),
}
