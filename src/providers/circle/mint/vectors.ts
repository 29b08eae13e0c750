import type { Specimen } from '../../specimen.ts'
import { knowsNone } from '../vectors.ts'
import { mintEventRows } from './event-rows.ts'
import type { CircleMintOptions } from './mint.ts'
import { circleMint } from './mint.ts'
import { SAMPLE_TOPIC, sampleMintEndpoint, signSns } from './sample.ts'
import { SAMPLE_CERTIFICATE_URL } from './sample-certificate.ts'

/** An endpoint whose orders have the payment intent that was made for them as their reference. */
export function mintEndpoint(options: Partial<CircleMintOptions> = {}) {
  return circleMint({
    ...sampleMintEndpoint,
    ask: knowsNone,
    apiKey: 'TEST_API_KEY:0a1b2c:3d4e5f',
    orderOf: ({ paymentIntent }) => paymentIntent,
    ...options,
  })
}

/** A certificate and a signature of its key that were made with OpenSSL, not with this code. */
const VECTOR_URL =
  'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-00000000000000000000000000000000.pem'
const VECTOR_PEM = [
  '-----BEGIN CERTIFICATE-----',
  'MIIDPzCCAiegAwIBAgIBATANBgkqhkiG9w0BAQsFADA8MR4wHAYDVQQKDBVTZWxmLW1hZGUgdGVzdCB2ZWN0b3IxGjAYBgNV',
  'BAMMEXNucy5hbWF6b25hd3MuY29tMCAXDTIwMDEwMTAwMDAwMFoYDzIwOTkxMjMxMjM1OTU5WjA8MR4wHAYDVQQKDBVTZWxm',
  'LW1hZGUgdGVzdCB2ZWN0b3IxGjAYBgNVBAMMEXNucy5hbWF6b25hd3MuY29tMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIB',
  'CgKCAQEAsQkD+RGrf1IGd/OHA7q9Oq0SxPMYQ2WOK3PzblMdOyGBOpO6bnyoDQnVVvVTgXWvkrPGqIkGIrzY/VZDfnfJ/jjk',
  'bjJUY+rYFNxTjaqV08mAMDQ3kAT3IOiUGuFBBW4Rx+QEtMBNNjLtNDTy7B9aoBo58eYdU/bD/77OTiZcoP8JBXltIqwxnYF2',
  'RYWufd6B11AHfmiR1dDICXiTDS9Hu0D4vDeOgRRQ1HBXPcotGCKbo5F4RvWbPk2dVGFd7KTuUji8Hvjt9qWU8FV9r1cl0gDh',
  'E12LevlNv6GnNs6VJ3YoM+1AbxaM+2fecHxhgDMHSxN6WC16cnLt/f0WxijhpwIDAQABo0owSDAJBgNVHRMEAjAAMBwGA1Ud',
  'EQQVMBOCEXNucy5hbWF6b25hd3MuY29tMB0GA1UdDgQWBBRkrNo3LPDaEUiITOYJ/XH3oeouSDANBgkqhkiG9w0BAQsFAAOC',
  'AQEArvNFZlj/AJxBMVf2sL8V2KZzlZvpXFP+zuZgEiCj9rhVsrMqJfIFfjXJN6borD/aIK/oF+aRq8q2PxOiXAdkTuf3+idA',
  'OK8Ahbcq2FPuf6lXax375AKERsch/tDNBQA93lV+ucrFNhFbfzRmcc8DOupFG5m1D9A6A3Jq79Rfc1+uMHYI708IaPdtFayv',
  '46YiXjlf4BsZY+pNNs3YVtEeRp6ohPbQ2kFu+lKcAQpwXLpWQU3Qf0LoRHwwmMhOVQXhE0s8b/CaHbIS+7r5IxM/X4MObg5f',
  'IiZVMmpCjc0ih8RDSm/wnDfHnRmAdDk3YEj2llxoCpV2nKMtyIgHrSUKBQ==',
  '-----END CERTIFICATE-----',
].join('\n')

const BODY =
  '{"Type":"Notification","MessageId":"9d9e2c4e-7d0b-5c3a-8a11-77b2e1f0a001","TopicArn":"arn:aws:sns:us-east-1:000000000000:sandbox_platform-notifications-topic","Message":"{\\"clientId\\":\\"c60d2d5b-203c-45bb-9f6e-93641d40a599\\",\\"notificationType\\":\\"payments\\",\\"version\\":1,\\"customAttributes\\":{\\"clientId\\":\\"c60d2d5b-203c-45bb-9f6e-93641d40a599\\"},\\"payment\\":{\\"id\\":\\"66c56b6a-fc79-338b-8b94-aacc4f0f18de\\",\\"type\\":\\"payment\\",\\"status\\":\\"paid\\",\\"amount\\":{\\"amount\\":\\"25.00\\",\\"currency\\":\\"USD\\"},\\"settlementAmount\\":{\\"amount\\":\\"25.00\\",\\"currency\\":\\"USD\\"},\\"fees\\":{\\"amount\\":\\"0.25\\",\\"currency\\":\\"USD\\"},\\"merchantId\\":\\"db5f2d46-9a6f-4d3e-8a0c-1d1f7a5b2c10\\",\\"merchantWalletId\\":\\"1000000001\\",\\"paymentIntentId\\":\\"6e4d4047-db14-4703-9a9a-7fb8a4a1d001\\",\\"depositAddress\\":{\\"chain\\":\\"ETH\\",\\"address\\":\\"0x4444444444444444444444444444444444444444\\"},\\"transactionHash\\":\\"0x5555555555555555555555555555555555555555555555555555555555555555\\",\\"createDate\\":\\"2026-03-03T12:10:00.000Z\\",\\"updateDate\\":\\"2026-03-03T12:14:00.000Z\\"}}","Timestamp":"2026-03-03T12:14:01.007Z","SignatureVersion":"2","Signature":"ZklOxBnKQxNDDxHW8SHmmgbL+HJuNiaF4PPVLgjk4urVw+eO3mvdvP6Becy67e/Gf1ekLHTht7fokly8/iHrwOzci4P97yJOyyeVw0oN6pB8e0L78jaFdMurvE1LnMP3zVs9lhja2BadER7PrlB8AW8JXUs0JyOzrvwh/hfbFSNizmdtqN+4pxFE5tBwRAIaNOh5y116Ily6BgntrW2QaAb3KDVjEhu8DYJPtvoQt0SUf7WyjbnuvvuCUyGKtATut9zc+Fl3vGALNC2rJyFyewsF7dOlBwuOfH/9FRXxK8JB76eF6Xpz5pmW0CQ9epXRSt1k75oPOAKJ+fTCdUZR9Q==","SigningCertURL":"https://sns.us-east-1.amazonaws.com/SimpleNotificationService-00000000000000000000000000000000.pem","UnsubscribeURL":"https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:us-east-1:000000000000:sandbox_platform-notifications-topic:00000000-0000-0000-0000-000000000000"}'

export const mintSpecimen: Specimen = {
  provider: mintEndpoint(),
  // It trusts another certificate at the same address.
  providerOfSecond: mintEndpoint({
    certificates: { [SAMPLE_CERTIFICATE_URL]: VECTOR_PEM },
    topicArn: SAMPLE_TOPIC,
  }),
  secrets: [],
  sign: (body) => ({ method: 'POST', headers: {}, body: Buffer.from(signSns(body)) }),
  headers: [],
  tolerance_s: null,
  events: mintEventRows,
  vectors: [
    {
      name: 'a payment that is paid, signature version 2',
      provider: circleMint({
        topicArn: 'arn:aws:sns:us-east-1:000000000000:sandbox_platform-notifications-topic',
        clientIds: ['c60d2d5b-203c-45bb-9f6e-93641d40a599'],
        certificates: { [VECTOR_URL]: VECTOR_PEM },
        ask: knowsNone,
      }),
      secret_label: '455669f0',
      now_ms: 1_772_540_042_000,
      delivery: { method: 'POST', headers: {}, body: Buffer.from(BODY) },
    },
  ],
}
