import { exponentOf } from '../../../money/currency.ts'
import { decimalText } from '../../../money/format.ts'
import { parseJsonBody } from '../../json-body.ts'
import type { SampleMaker, SampleMessage, SampleWish } from '../../sample-maker.ts'
import { uuidFrom } from '../uuid.ts'
import type { MintReference } from './payment.ts'
import {
  SAMPLE_CERTIFICATE,
  SAMPLE_CERTIFICATE_URL,
  signWithSampleCertificate,
} from './sample-certificate.ts'
import { readSnsMessage, stringToSign } from './sns-message.ts'

export const SAMPLE_TOPIC = 'arn:aws:sns:us-west-2:000000000000:sandbox_platform-notifications-topic'
export const SAMPLE_CLIENT = 'c60d2d5b-203c-45bb-9f6e-93641d40a599'

/** A payment intent that stands for one order; here its id even spells the order, as long as it is not too long. */
export function sampleIntent(order: string | undefined): string {
  const hex = Buffer.from(order ?? '')
    .toString('hex')
    .padEnd(32, '0')
    .slice(0, 32)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** The order that a sample's intent stands for. */
export function sampleMintOrderOf({
  paymentIntent = '',
}: Pick<MintReference, 'paymentIntent'>): string | undefined {
  const text = Buffer.from(paymentIntent.replaceAll('-', ''), 'hex').toString('utf8').replace(/\0+$/, '')
  return /^[!-~]+$/.test(text) ? text : undefined
}

/** Options of an endpoint that takes the samples. */
export const sampleMintEndpoint = {
  topicArn: SAMPLE_TOPIC,
  clientIds: [SAMPLE_CLIENT],
  orderOf: sampleMintOrderOf,
  certificates: { [SAMPLE_CERTIFICATE_URL]: SAMPLE_CERTIFICATE },
} as const

/** Signs an SNS message with the sample certificate. What is none is given back as it is, with nothing signed. */
export function signSns(body: string | Uint8Array, version: '1' | '2' = '2'): string {
  const bytes = Buffer.from(body)
  const fields = { SignatureVersion: version, Signature: '', SigningCertURL: SAMPLE_CERTIFICATE_URL }
  try {
    const unsigned = { ...(parseJsonBody(bytes) as object), ...fields }
    const message = readSnsMessage(Buffer.from(JSON.stringify(unsigned)))
    if (message === null) return bytes.toString('utf8')
    const algorithm = version === '1' ? 'sha1' : 'sha256'
    return JSON.stringify({
      ...unsigned,
      Signature: signWithSampleCertificate(stringToSign(message), algorithm),
    })
  } catch {
    return bytes.toString('utf8')
  }
}

/** The signed body of a notification with this content. */
export function mintBody(content: Readonly<Record<string, unknown>>, at: string): string {
  const customAttributes = { clientId: SAMPLE_CLIENT }
  const Message = JSON.stringify({ clientId: SAMPLE_CLIENT, version: 1, customAttributes, ...content })
  return signSns(
    JSON.stringify({
      Type: 'Notification',
      MessageId: uuidFrom(`message/${Message}/${at}`),
      TopicArn: SAMPLE_TOPIC,
      Message,
      Timestamp: at,
      UnsubscribeURL: `https://sns.us-west-2.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=${SAMPLE_TOPIC}:0`,
    }),
  )
}

/** Circle Mint. An event is the notification's type, the object's own type where it has one, and its status. */
export const mintSamples: SampleMaker = {
  events: [
    'payments.payment.paid',
    'payments.payment.pending',
    'payments.payment.confirmed',
    'payments.payment.failed',
    'payments.refund.paid',
    'payments.refund.pending',
    'payments.refund.failed',
    'paymentIntents.created',
    'paymentIntents.complete',
    'paymentIntents.expired',
    'chargebacks.active',
    'chargebacks.won',
    'chargebacks.lost',
  ],
  steps: {
    paid: ['payments.payment.paid'],
    failed: ['payments.payment.failed'],
    refunded: ['payments.refund.paid'],
    dispute_opened: ['chargebacks.active'],
    dispute_lost: ['chargebacks.lost'],
    dispute_won: ['chargebacks.won'],
  },
  currency: 'USD',
  payment: (seed) => uuidFrom(`mint/${seed}`),
  make: (wish): SampleMessage => {
    const at = new Date(wish.at_s * 1000).toISOString()
    const body = mintBody(contentOf(wish, at), at)
    return { method: 'POST', query: '', headers: { 'content-type': 'text/plain; charset=UTF-8' }, body }
  },
}

function contentOf(wish: SampleWish, at: string): Record<string, unknown> {
  const [notificationType = '', ...rest] = (wish.event ?? 'payments.payment.paid').split('.')
  const money = moneyOf(wish, wish.amount_minor)
  const status = rest.at(-1) ?? ''
  if (notificationType === 'chargebacks')
    return { notificationType, chargeback: chargebackOf(wish, status, money, at) }
  const intent = sampleIntent(wish.order)
  if (notificationType === 'paymentIntents') {
    const paymentIds = status === 'complete' ? [wish.payment] : []
    return { notificationType, paymentIntent: intentOf({ id: intent, status, money, paymentIds, at }) }
  }
  if (rest[0] === 'payment')
    return { notificationType, payment: mintPayment({ id: wish.payment, intent, status, money, at }) }
  const id = uuidFrom(`mint-refund/${wish.payment}/${wish.amount_minor}/${wish.at_s}`)
  return { notificationType, payment: mintRefund({ id, payment: wish.payment, status, money, at }) }
}

export interface MintMoneyText {
  readonly amount: string
  readonly currency: string
}

function moneyOf({ currency }: SampleWish, amount_minor: bigint): MintMoneyText {
  return { amount: decimalText(amount_minor, exponentOf(currency) ?? 2), currency }
}

interface Sampled {
  readonly id: string
  readonly status: string
  readonly money: MintMoneyText
  readonly at: string
}

/** A payment on a chain, as Circle's API has it. */
export function mintPayment({ id, intent, status, money, at }: Sampled & { readonly intent: string }) {
  return {
    id,
    type: 'payment',
    status,
    amount: money,
    fees: { amount: '0.25', currency: money.currency },
    settlementAmount: money,
    merchantId: 'db5f2d46-9a6f-4d3e-8a0c-1d1f7a5b2c10',
    merchantWalletId: '1000000001',
    paymentIntentId: intent,
    fromAddresses: { chain: 'ETH', addresses: ['0x1111111111111111111111111111111111111111'] },
    depositAddress: { chain: 'ETH', address: '0x4444444444444444444444444444444444444444' },
    ...(status === 'failed' ? { errorCode: 'payment_failed' } : {}),
    createDate: at,
    updateDate: at,
  }
}

/** A refund of a payment, as Circle's API has it. */
export function mintRefund({ id, payment, status, money, at }: Sampled & { readonly payment: string }) {
  return {
    id,
    type: 'refund',
    status,
    amount: money,
    originalPayment: { id: payment, type: 'payment', status: 'paid' },
    merchantId: 'db5f2d46-9a6f-4d3e-8a0c-1d1f7a5b2c10',
    createDate: at,
    updateDate: at,
  }
}

/** A payment intent, as Circle's API has it: newest step first. */
export function intentOf({
  id,
  status,
  money,
  paymentIds,
  at,
}: Sampled & { readonly paymentIds: readonly string[] }) {
  const made = { status: 'created', time: new Date(Date.parse(at) - 60_000).toISOString() }
  const reached = { status, ...(status === 'complete' ? { context: 'paid' } : {}), time: at }
  return {
    id,
    amount: money,
    amountPaid: { ...money, amount: status === 'complete' ? money.amount : '0.00' },
    amountRefunded: { ...money, amount: '0.00' },
    settlementCurrency: money.currency,
    paymentMethods: [{ type: 'blockchain', chain: 'ETH' }],
    paymentIds,
    refundIds: [],
    timeline: status === 'created' ? [{ ...made, time: at }] : [reached, made],
    createDate: at,
    updateDate: at,
  }
}

function chargebackOf(wish: SampleWish, status: string, money: MintMoneyText, at: string) {
  const opened = {
    type: '1st Chargeback',
    chargebackAmount: money,
    description: '',
    settlementId: null,
    createDate: at,
  }
  const reversal = { ...opened, type: 'Chargeback Reversal' }
  return {
    id: uuidFrom(`chargeback/${wish.payment}`),
    paymentId: wish.payment,
    merchantId: 'db5f2d46-9a6f-4d3e-8a0c-1d1f7a5b2c10',
    reasonCode: '10.4',
    status,
    category: 'Fraudulent',
    history: status === 'won' ? [reversal, opened] : [opened],
  }
}
