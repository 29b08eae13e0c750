import type { Mode } from '../../facts/event.ts'
import type { PaymentMilestone } from '../../facts/payment.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import { refundMilestone } from '../../facts/refund.ts'
import { textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { Owner, Reading } from './reading.ts'
import { ownAnswer, paymentSubject, required } from './reading.ts'
import type { CircleToken, TokenMoney } from './token-amount.ts'
import { tokenMoney, tokenOf } from './token-amount.ts'

/** A transfer that came in, for `orderOf`. Which of these tell the order is the merchant's own arrangement. */
export interface Deposit {
  readonly walletId: string | undefined
  readonly blockchain: string
  readonly destinationAddress: string | undefined
  readonly sourceAddress: string | undefined
  /** Our code of the token. */
  readonly currency: string
  readonly amount_minor: bigint
}

export interface WalletsSetup extends Owner {
  readonly tokens: ReadonlyMap<string, CircleToken>
  readonly orderOf: ((deposit: Deposit) => string | undefined) | undefined
  readonly refundOf: ((refId: string) => string | undefined) | undefined
}

/** What a state means for whoever waits for the money. A block can still be dropped at CONFIRMED, so that is no success. */
const STATES = new Map<string, 'pending' | 'succeeded' | 'failed' | 'canceled'>([
  ...[
    'INITIATED',
    'CLEARED',
    'QUEUED',
    'PENDING_RISK_SCREENING',
    'WAITING',
    'SENT',
    'STUCK',
    'CONFIRMED',
  ].map((state) => [state, 'pending'] as const),
  ['COMPLETE', 'succeeded'],
  ['FAILED', 'failed'],
  ['DENIED', 'failed'],
  // The webhook page and the SDK spell it differently.
  ['CANCELED', 'canceled'],
  ['CANCELLED', 'canceled'],
])

const OWN_REFUND = 'paidonce-refund:'

/** Our own `refId` on a transfer that gives money back. */
export function refundReference(payment: string): string {
  return `${OWN_REFUND}${payment}`
}

/**
 * What one transaction says, whoever tells it. It is known by Circle's id alone: hashes are null at first, and one
 * transaction of the chain may hold several transfers.
 */
export function readTransaction(setup: WalletsSetup, transaction: unknown, direction?: string): Reading {
  const type = textIn(transaction, 'transactionType') ?? direction
  if (direction !== undefined && type !== direction)
    throw new Unreadable('transactionType contradicts the event type')
  if (type === 'INBOUND') return readDeposit(setup, transaction)
  if (type === 'OUTBOUND') return readOutgoing(setup, transaction)
  throw new Unreadable('transactionType is neither INBOUND nor OUTBOUND')
}

function readDeposit(setup: WalletsSetup, transaction: unknown): Reading {
  const token = tokenOf(setup.tokens, transaction)
  if (typeof token === 'string') return { not_ours: token }
  const id = required(transaction, 'id')
  const milestone = milestoneOf(transaction)
  checkTransfer(transaction)
  const money = tokenMoney(transaction, token)
  return {
    facts: [
      paymentMilestone(paymentSubject(setup, id), {
        milestone,
        ...money,
        method: 'crypto',
        moved_at: milestone === 'succeeded' ? movedAt(transaction) : undefined,
        reason: reasonOf(transaction, milestone),
        order: orderOf(setup, transaction, token, money),
      }),
    ],
  }
}

function orderOf(
  setup: WalletsSetup,
  transaction: unknown,
  token: CircleToken,
  money: TokenMoney,
): string | undefined {
  const answer = setup.orderOf?.({
    walletId: textIn(transaction, 'walletId'),
    blockchain: token.blockchain,
    destinationAddress: textIn(transaction, 'destinationAddress'),
    sourceAddress: textIn(transaction, 'sourceAddress'),
    ...money,
  })
  return ownAnswer('orderOf', answer)
}

/** A transfer that leaves is a refund only when its own reference says which payment it gives back. */
function readOutgoing(setup: WalletsSetup, transaction: unknown): Reading {
  const payment = refundedPayment(setup, transaction)
  if (payment === undefined) return { ignored: 'an outgoing transfer whose refId names no payment of ours' }
  const token = tokenOf(setup.tokens, transaction)
  if (typeof token === 'string') throw new Unreadable(`refId says that it is a refund, but ${token}`)
  const milestone = milestoneOf(transaction)
  checkTransfer(transaction)
  return {
    facts: [
      refundMilestone(paymentSubject(setup, payment), {
        refund: required(transaction, 'id'),
        milestone,
        ...tokenMoney(transaction, token),
        moved_at: milestone === 'succeeded' ? movedAt(transaction) : undefined,
        reason: reasonOf(transaction, milestone),
      }),
    ],
  }
}

/** The payment that an outgoing transfer gives back; undefined for a payout. */
export function refundedPayment(setup: WalletsSetup, transaction: unknown): string | undefined {
  const refId = textIn(transaction, 'refId')
  if (refId === undefined) return undefined
  if (refId.startsWith(OWN_REFUND)) return refId.slice(OWN_REFUND.length) || undefined
  return ownAnswer('refundOf', setup.refundOf?.(refId))
}

function milestoneOf(
  transaction: unknown,
): Extract<PaymentMilestone, 'pending' | 'succeeded' | 'failed' | 'canceled'> {
  const milestone = STATES.get(textIn(transaction, 'state') ?? '')
  if (milestone === undefined) throw new Unreadable('state is not a state that we know')
  return milestone
}

/** The amounts of a contract call are not what it moves. */
function checkTransfer(transaction: unknown): void {
  const operation = textIn(transaction, 'operation') ?? 'TRANSFER'
  if (operation !== 'TRANSFER') throw new Unreadable('operation is not TRANSFER')
}

function movedAt(transaction: unknown): string | undefined {
  return utcTime(textIn(transaction, 'firstConfirmDate')) ?? undefined
}

function reasonOf(transaction: unknown, milestone: string): string | undefined {
  if (milestone !== 'failed') return undefined
  const reason = textIn(transaction, 'errorReason')
  return reason !== undefined && /^[A-Z0-9_]+$/i.test(reason) ? reason : textIn(transaction, 'state')
}

/** Every test chain has a suffix in Circle's list (`ARC-TESTNET`, `ETH-SEPOLIA`), and no chain with real money has one. */
export function modeOfChain(blockchain: string | undefined): Mode | null {
  if (blockchain === undefined) return null
  return blockchain.includes('-') ? 'test' : 'live'
}
