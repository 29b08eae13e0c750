import type { AskAnswer } from '../ask.ts'
import type { Specimen, Vector } from '../specimen.ts'
import { eventRows } from './event-rows.ts'
import { SAMPLE_SUBSCRIPTION, SAMPLE_TOKENS, sampleEndpoint, signCircle } from './sample.ts'
import { SAMPLE_KEY } from './sample-key.ts'
import type { CircleWalletsOptions } from './wallets.ts'
import { circleWallets } from './wallets.ts'

/** Circle knows no other key than those that are pinned. */
export const knowsNone = async (): Promise<AskAnswer> => ({
  status: 404,
  headers: new Headers(),
  body: Buffer.from('{}'),
  retry_after_ms: undefined,
})

/** An endpoint whose orders have the address that was given out for them as their reference. */
export function endpoint(options: Partial<CircleWalletsOptions> = {}) {
  return circleWallets({
    ...sampleEndpoint,
    apiKey: 'TEST_API_KEY:0a1b2c:3d4e5f',
    refunds: { entitySecret: 'ab'.repeat(32) },
    orderOf: ({ destinationAddress }) => destinationAddress,
    ask: knowsNone,
    ...options,
  })
}

/** A key and signatures of it that were made with OpenSSL, not with this code; its secret half is not here. */
const VECTOR_KEY_ID = '879dc113-5ca4-4ff7-a6b7-54652083fcf8'
const OTHER_KEY =
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE51B5PxDQN/zTCYIUjDsnKHbxcG4xxKuq0ASO6uJ1NeW735orMYYO6YpHDxSOxQCv8Id/qR+hpGCGKe2aakTvIA=='
const vectorEndpoint = circleWallets({
  subscriptionIds: [SAMPLE_SUBSCRIPTION],
  tokens: SAMPLE_TOKENS,
  publicKeys: { [VECTOR_KEY_ID]: OTHER_KEY },
})

function vector(name: string, signature: string, body: string): Vector {
  return {
    name,
    provider: vectorEndpoint,
    secret_label: VECTOR_KEY_ID,
    now_ms: 1_772_539_980_000,
    delivery: {
      method: 'POST',
      headers: { 'x-circle-signature': signature, 'x-circle-key-id': VECTOR_KEY_ID },
      body: Buffer.from(body),
    },
  }
}

export const specimen: Specimen = {
  provider: endpoint(),
  // It trusts another key under the same id.
  providerOfSecond: endpoint({ publicKeys: { [SAMPLE_KEY.id]: OTHER_KEY } }),
  secrets: [],
  sign: (body) => ({ method: 'POST', headers: signCircle(body), body }),
  headers: ['x-circle-signature', 'x-circle-key-id'],
  repeated: 'refused',
  tolerance_s: null,
  ofSamples: circleWallets(sampleEndpoint),
  events: eventRows,
  vectors: [
    vector(
      'beyond ASCII',
      'MEUCIQDBgGQ2jCZAczYnmwLnma/UNK/SahMN6yVFAdKe0COq4gIgVKiVoTd2343DSI0D/ILs4n8mAjJbevL4moOa4dIG/90=',
      '{"hello":"wörld","n":1}',
    ),
    vector(
      'a deposit that is complete',
      'MEQCIC29VVp8jpWEV1jQRGw3kIGgVQeuRbxLiNyskEpgr5KpAiAkuIfP1pnVO8KOHFqGX13cZA7ub2kiFG0PdrCmSfDLBA==',
      '{"subscriptionId":"0a7c1e52-6f0b-4d0e-9d6b-2f6f0f9b1c11","notificationId":"5a1d7d30-2f47-4fd0-9a3e-61c1a2b3c402","notificationType":"transactions.inbound","notification":{"id":"b3c1f0de-2a4c-5b8e-9d11-7f2f3a5c6d01","blockchain":"ARC-TESTNET","tokenId":"15dc2b5d-0994-58b0-bf8c-3a0501148ee8","walletId":"ce714f5b-0d8e-4062-9454-61aa1154869b","sourceAddress":"0x1111111111111111111111111111111111111111","destinationAddress":"0x2222222222222222222222222222222222222222","transactionType":"INBOUND","custodyType":"DEVELOPER","state":"COMPLETE","errorReason":"","errorDetails":null,"amounts":["25.5"],"nfts":null,"txHash":"0x7d1c0b9e5f3a24681357acebd0f98765432100ffeeddccbbaa99887766554433","blockHash":"0x9a8b7c6d5e4f30219a8b7c6d5e4f30219a8b7c6d5e4f30219a8b7c6d5e4f3021","blockHeight":1234567,"networkFee":"","firstConfirmDate":"2026-03-03T12:12:31Z","operation":"TRANSFER","refId":null,"abiParameters":null,"createDate":"2026-03-03T12:12:30Z","updateDate":"2026-03-03T12:12:58Z"},"timestamp":"2026-03-03T12:12:58.123456789Z","version":2}',
    ),
  ],
}
