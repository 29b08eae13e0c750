import type { EventRow, Specimen } from '../specimen.ts'
import { khalti } from './index.ts'
import { khaltiReturn } from './sample.ts'

const PIDX = 'bZQLD9wRVWo4CdESSfuSsB'

/** The words of the look-up; in a return they say which payment to ask about, and nothing else. */
function row(status: string): EventRow {
  return {
    event: status,
    body: Buffer.from(khaltiReturn({ payment: PIDX, amount_minor: 270_000n, order: 'ORD-1001', status })),
    facts: [],
    outcome: 'facts',
    lookups: [{ object: 'payment', id: PIDX }],
    payment: 'named',
  }
}

export const specimen: Specimen = {
  provider: khalti({
    secretKey: 'live_secret_key_0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    mode: 'test',
    websiteUrl: 'https://shop.example.com',
  }),
  secrets: [],
  providerOfSecond: null,
  sign: (body) => ({ method: 'POST', headers: {}, body }),
  headers: [],
  tolerance_s: null,
  syntax: 'form',
  vectors: [],
  events: [
    'Completed',
    'Pending',
    'Initiated',
    'Refunded',
    'Partially Refunded',
    'Expired',
    'User canceled',
    'Canceled',
    'Failed',
    'Anything else',
  ].map(row),
}
