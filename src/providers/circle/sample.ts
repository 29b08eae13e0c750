import { decimalText } from '../../money/format.ts'
import type { SampleMaker, SampleMessage, SampleWish } from '../sample-maker.ts'
import { SAMPLE_KEY, signWithSampleKey } from './sample-key.ts'
import type { CircleToken } from './token-amount.ts'
import type { Deposit } from './transaction.ts'
import { refundReference } from './transaction.ts'
import { uuidFrom } from './uuid.ts'

export const SAMPLE_SUBSCRIPTION = '0a7c1e52-6f0b-4d0e-9d6b-2f6f0f9b1c11'

/** The tokens of the samples: USDC on Arc, as the test chain and the live one have it. Both ids are made up. */
export const SAMPLE_TOKENS: readonly CircleToken[] = [
  { tokenId: '15dc2b5d-0994-58b0-bf8c-3a0501148ee8', blockchain: 'ARC-TESTNET', code: 'USDC', decimals: 6 },
  { tokenId: '27ed3c6e-1a95-59c1-8f9d-4b1612259ff9', blockchain: 'ARC', code: 'USDC', decimals: 6 },
]

/** An address that stands for one order, as if it had been given out for it; here it even spells the order. */
export function sampleAddress(order: string | undefined): string {
  return `0x${Buffer.from(order ?? '')
    .toString('hex')
    .padEnd(40, '0')}`
}

/** The order that a sample's address stands for. */
export function sampleOrderOf({
  destinationAddress = '',
}: Pick<Deposit, 'destinationAddress'>): string | undefined {
  const text = Buffer.from(destinationAddress.slice(2), 'hex').toString('utf8').replace(/\0+$/, '')
  return /^[!-~]+$/.test(text) ? text : undefined
}

/** Options of an endpoint that takes the samples. */
export const sampleEndpoint = {
  subscriptionIds: [SAMPLE_SUBSCRIPTION],
  tokens: SAMPLE_TOKENS,
  orderOf: sampleOrderOf,
  publicKeys: { [SAMPLE_KEY.id]: SAMPLE_KEY.publicKey },
} as const

/** The headers with which Circle sends this body, signed with the sample key. */
export function signCircle(body: string | Uint8Array): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-circle-key-id': SAMPLE_KEY.id,
    'x-circle-signature': signWithSampleKey(body),
  }
}

/** The body of a notification about a transaction, with an id that follows from what it says. */
export function notificationBody(transaction: Readonly<Record<string, unknown>>, at: string): string {
  const direction = transaction.transactionType === 'INBOUND' ? 'inbound' : 'outbound'
  return JSON.stringify({
    subscriptionId: SAMPLE_SUBSCRIPTION,
    notificationId: uuidFrom(`notification/${transaction.id}/${transaction.state}/${at}`),
    notificationType: `transactions.${direction}`,
    notification: transaction,
    timestamp: at,
    version: 2,
  })
}

const INBOUND = ['COMPLETE', 'CONFIRMED', 'FAILED', 'DENIED'] as const
const OUTBOUND = ['COMPLETE', 'QUEUED', 'SENT', 'CONFIRMED', 'CANCELED', 'FAILED'] as const

/** Circle Wallets. An event is the notification's type and the state that it tells. */
export const samples: SampleMaker = {
  events: [
    ...INBOUND.map((state) => `transactions.inbound.${state}`),
    ...OUTBOUND.map((state) => `transactions.outbound.${state}`),
  ],
  steps: {
    paid: ['transactions.inbound.COMPLETE'],
    failed: ['transactions.inbound.FAILED'],
    refunded: ['transactions.outbound.COMPLETE'],
  },
  currency: 'USDC',
  payment: (seed) => uuidFrom(`payment/${seed}`),
  make: (wish): SampleMessage => {
    const body = notificationBody(sampleTransaction(wish), isoTime(wish.at_s))
    return { method: 'POST', query: '', headers: signCircle(body), body }
  },
}

function sampleTransaction(wish: SampleWish): Record<string, unknown> {
  const [, direction = 'inbound', state = 'COMPLETE'] = (wish.event ?? '').split('.')
  const token = SAMPLE_TOKENS[wish.live ? 1 : 0]!
  const base = {
    state,
    token,
    amount: decimalText(wish.amount_minor, token.decimals),
    at: isoTime(wish.at_s),
  }
  if (direction === 'inbound')
    return depositOf({ ...base, id: wish.payment, address: sampleAddress(wish.order) })
  return transferOf({
    ...base,
    id: uuidFrom(`refund/${wish.payment}/${wish.amount_minor}/${wish.at_s}`),
    address: SENDER,
    refId: refundReference(wish.payment),
  })
}

function isoTime(at_s: number): string {
  return new Date(at_s * 1000).toISOString()
}

export interface SampleTransfer {
  readonly id: string
  readonly state: string
  readonly token: CircleToken
  /** Decimal text in whole units of the token. */
  readonly amount: string
  /** Where it goes. */
  readonly address: string
  readonly at: string
}

const SENDER = '0x1111111111111111111111111111111111111111'
const WALLET = 'ce714f5b-0d8e-4062-9454-61aa1154869b'

/** A transaction that came in, as Circle's API has it. */
export function depositOf(transfer: SampleTransfer): Record<string, unknown> {
  return { ...transactionOf(transfer, SENDER), transactionType: 'INBOUND', refId: null }
}

/** A transaction that leaves. */
export function transferOf(transfer: SampleTransfer & { readonly refId: string }): Record<string, unknown> {
  const { refId } = transfer
  return {
    ...transactionOf(transfer, sampleAddress('')),
    transactionType: 'OUTBOUND',
    feeLevel: 'MEDIUM',
    refId,
  }
}

function transactionOf({ id, state, token, amount, address, at }: SampleTransfer, sourceAddress: string) {
  const mined = ['CONFIRMED', 'COMPLETE'].includes(state)
  return {
    id,
    blockchain: token.blockchain,
    tokenId: token.tokenId,
    walletId: WALLET,
    sourceAddress,
    destinationAddress: address,
    custodyType: 'DEVELOPER',
    state,
    errorReason: state === 'FAILED' ? 'FAILED_ON_CHAIN' : '',
    errorDetails: null,
    amounts: [amount],
    nfts: null,
    txHash: mined || state === 'SENT' ? `0x${uuidFrom(id).replaceAll('-', '').repeat(2)}` : null,
    blockHeight: mined ? 1_234_567 : null,
    networkFee: '',
    firstConfirmDate: mined ? at : null,
    operation: 'TRANSFER',
    abiParameters: null,
    createDate: at,
    updateDate: at,
  }
}
