// What checks one delivery of each provider: ours, and beside it the provider's own library, or, where that has no check
// for webhooks, the few lines of node:crypto that the provider's documentation tells one to write.
import { createHmac, createPublicKey, timingSafeEqual, verify, X509Certificate } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { verify as octokitVerify } from '@octokit/webhooks-methods'
import { Paddle } from '@paddle/paddle-node-sdk'
import DodoPayments from 'dodopayments'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { circleMint, circleWallets, mintSamples } from '../dist/providers/circle/index.js'
import { sampleMintEndpoint } from '../dist/providers/circle/mint/sample.js'
import { SAMPLE_CERTIFICATE } from '../dist/providers/circle/mint/sample-certificate.js'
import { samples as circleSamples, sampleEndpoint } from '../dist/providers/circle/sample.js'
import { SAMPLE_KEY } from '../dist/providers/circle/sample-key.js'
import { dodoPayments } from '../dist/providers/dodo-payments/index.js'
import { samples as dodoSamples } from '../dist/providers/dodo-payments/sample.js'
import { esewa } from '../dist/providers/esewa/index.js'
import { samples as esewaSamples } from '../dist/providers/esewa/sample.js'
import { github } from '../dist/providers/github/index.js'
import { samples as githubSamples } from '../dist/providers/github/sample.js'
import { hmac, hmacSamples } from '../dist/providers/hmac/index.js'
import { paddle } from '../dist/providers/paddle/index.js'
import { samples as paddleSamples } from '../dist/providers/paddle/sample.js'
import { startFakePaypal } from '../dist/providers/paypal/fake.js'
import { paypal } from '../dist/providers/paypal/index.js'
import { samples as paypalSamples, standInRoot } from '../dist/providers/paypal/sample.js'
import { standInCertificates } from '../dist/providers/paypal/stand-in-signer.js'
import { standardWebhooks } from '../dist/providers/standard-webhooks/index.js'
import { samples as standardSamples } from '../dist/providers/standard-webhooks/sample.js'
import { stripe } from '../dist/providers/stripe/index.js'
import { samples as stripeSamples } from '../dist/providers/stripe/sample.js'
import { yolfi } from '../dist/providers/yolfi/index.js'
import { samples as yolfiSamples } from '../dist/providers/yolfi/sample.js'

const WHSEC = 'whsec_YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2g='
const WEBHOOK_ID = '8PT597110X687430L'
const CODE = 'BENCHSHOP'
const translate = () => ({ facts: [] })
const SCHEME = {
  header: 'x-gateway-signature',
  algorithm: 'sha256',
  encoding: 'hex',
  signed: '{time}.{body}',
  time: { header: 'x-gateway-time', unit: 's', tolerance_s: 300 },
}

/**
 * @typedef {object} Contest
 * @property {string} name
 * @property {string} beside the other side, in words
 * @property {import('../dist/providers/contract.js').Provider} provider
 * @property {import('../dist/providers/sample-maker.js').SampleMaker} maker
 * @property {string} secret
 * @property {(message: Message) => unknown} theirs true, or what the library gives; false or an exception for a forgery
 *
 * @typedef {object} Message
 * @property {Record<string, string>} headers
 * @property {Buffer} body as received
 * @property {string} text the same as text, since some libraries take that; made before the clock starts
 * @property {string} query
 */

/** @returns {Promise<{ contests: Contest[], close: () => Promise<void> }>} */
export async function openContests() {
  const stripeSdk = new Stripe('sk_test_bench')
  const paddleSdk = new Paddle('pdl_sdbx_apikey_bench')
  const dodoSdk = new DodoPayments({ bearerToken: 'bench', environment: 'test_mode' })
  const standard = new Webhook(WHSEC)
  const fakePaypal = await startFakePaypal()
  const paypalKey = new X509Certificate(standInCertificates).publicKey
  const circleKey = createPublicKey({
    key: Buffer.from(SAMPLE_KEY.publicKey, 'base64'),
    format: 'der',
    type: 'spki',
  })
  const mintKey = new X509Certificate(SAMPLE_CERTIFICATE).publicKey
  const contests = [
    {
      name: 'stripe',
      beside: 'stripe',
      provider: stripe({ webhookSecrets: WHSEC }),
      maker: stripeSamples,
      secret: WHSEC,
      theirs: ({ headers, body }) =>
        stripeSdk.webhooks.signature.verifyHeader(body, headers['stripe-signature'], WHSEC, 300),
    },
    {
      name: 'paddle',
      beside: '@paddle/paddle-node-sdk',
      provider: paddle({ webhookSecrets: 'pdl_ntfset_bench' }),
      maker: paddleSamples,
      secret: 'pdl_ntfset_bench',
      theirs: ({ headers, text }) =>
        paddleSdk.webhooks.isSignatureValid(text, 'pdl_ntfset_bench', headers['paddle-signature']),
    },
    {
      name: 'dodo-payments',
      beside: 'dodopayments (reads the body too)',
      provider: dodoPayments({ webhookSecrets: WHSEC }),
      maker: dodoSamples,
      secret: WHSEC,
      theirs: ({ headers, text }) => dodoSdk.webhooks.unwrap(text, { headers, key: WHSEC }),
    },
    {
      name: 'standard-webhooks',
      beside: 'standardwebhooks (reads the body too)',
      provider: standardWebhooks({ name: 'bench', secrets: WHSEC, translate }),
      maker: standardSamples,
      secret: WHSEC,
      theirs: ({ headers, text }) => standard.verify(text, headers),
    },
    {
      name: 'github',
      beside: '@octokit/webhooks-methods',
      provider: github({ webhookSecrets: 'bench-secret' }),
      maker: githubSamples,
      secret: 'bench-secret',
      theirs: ({ headers, text }) => octokitVerify('bench-secret', text, headers['x-hub-signature-256']),
    },
    {
      name: 'paypal',
      beside: 'node:crypto (its library has no check)',
      provider: paypal({
        webhookIds: WEBHOOK_ID,
        environment: 'sandbox',
        clientId: 'bench',
        clientSecret: 'bench-secret',
        baseUrl: fakePaypal.url,
        trustedRoots: [standInRoot],
      }),
      maker: paypalSamples,
      secret: WEBHOOK_ID,
      theirs: ({ headers, body }) => plainPaypal(paypalKey, headers, body),
    },
    {
      name: 'circle',
      beside: 'node:crypto (its library has no check)',
      provider: circleWallets(sampleEndpoint),
      maker: circleSamples,
      secret: '',
      theirs: ({ headers, body }) =>
        verify('sha256', body, circleKey, Buffer.from(headers['x-circle-signature'], 'base64')),
    },
    {
      name: 'circle-mint',
      beside: 'node:crypto (its library has no check)',
      provider: circleMint({ ...sampleMintEndpoint, mode: 'test' }),
      maker: mintSamples,
      secret: '',
      theirs: ({ text }) => plainSns(mintKey, text),
    },
    {
      name: 'yolfi',
      beside: 'node:crypto (it has no library)',
      provider: yolfi({ webhookSecrets: 'bench-secret' }),
      maker: yolfiSamples,
      secret: 'bench-secret',
      theirs: ({ headers, body, text }) =>
        JSON.parse(text).id === headers['x-yolfi-event-id'] &&
        equal(hmacOf('bench-secret', [body]), Buffer.from(headers['x-yolfi-signature'], 'base64')),
    },
    {
      name: 'esewa',
      beside: 'node:crypto (it has no library)',
      provider: esewa({ productCode: CODE, secret: 'bench-secret', mode: 'live' }),
      maker: esewaSamples,
      secret: 'bench-secret',
      theirs: ({ query }) => plainEsewa(query),
    },
    {
      name: 'hmac',
      beside: 'node:crypto (it has no library)',
      provider: hmac({ name: 'gateway', secrets: 'bench-secret', translate, ...SCHEME }),
      maker: hmacSamples(SCHEME),
      secret: 'bench-secret',
      theirs: ({ headers, body }) =>
        Math.abs(Date.now() / 1000 - Number(headers['x-gateway-time'])) <= 300 &&
        equal(
          hmacOf('bench-secret', [`${headers['x-gateway-time']}.`, body]),
          Buffer.from(headers['x-gateway-signature'], 'hex'),
        ),
    },
  ]
  return { contests, close: () => fakePaypal.close() }
}

function hmacOf(secret, parts) {
  const due = createHmac('sha256', secret)
  for (const part of parts) due.update(part)
  return due.digest()
}

function equal(due, given) {
  return due.length === given.length && timingSafeEqual(due, given)
}

function plainPaypal(key, headers, body) {
  const id = headers['paypal-transmission-id']
  const signed = `${id}|${headers['paypal-transmission-time']}|${WEBHOOK_ID}|${crc32(body)}`
  return verify('sha256', Buffer.from(signed), key, Buffer.from(headers['paypal-transmission-sig'], 'base64'))
}

function plainSns(key, text) {
  const message = JSON.parse(text)
  const names = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
  const signed = names.filter((name) => name in message).map((name) => `${name}\n${message[name]}\n`)
  return verify('sha256', Buffer.from(signed.join('')), key, Buffer.from(message.Signature, 'base64'))
}

function plainEsewa(query) {
  const data = new URLSearchParams(query).get('data')
  const told = JSON.parse(Buffer.from(data, 'base64').toString('utf8'))
  const signed = told.signed_field_names.split(',').map((name) => `${name}=${told[name]}`)
  return equal(hmacOf('bench-secret', [signed.join(',')]), Buffer.from(told.signature, 'base64'))
}
