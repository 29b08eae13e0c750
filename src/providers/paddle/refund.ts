import type { Adjustment, CreateAdjustmentRequestBody } from '@paddle/paddle-node-sdk'
import type { Fact } from '../../facts/fact.ts'
import type { JsonRecord } from '../field.ts'
import { fieldIn, listIn, textIn } from '../field.ts'
import type { LookupContext, OperationAnswer, RefundRequest } from '../lookup.ts'
import { unreadableReason } from '../unreadable.ts'
import { readAdjustment } from './adjustment.ts'
import type { AmountKind } from './amount.ts'
import { transactionMoney, valueIn } from './amount.ts'
import type { PaddleApi } from './api.ts'
import type { PaddleEvent, PaddleSetup } from './paddle-event.ts'
import { toWire } from './wire.ts'

/**
 * Asks for a refund. Paddle takes no idempotency key, so our key is written at the end of the adjustment's reason, and
 * every try looks first whether an earlier one under this key arrived.
 */
export async function refundAtPaddle(
  setup: PaddleSetup,
  api: PaddleApi,
  request: RefundRequest,
  context: LookupContext,
): Promise<OperationAnswer> {
  if (!/^txn_[a-z0-9]{1,64}$/.test(request.payment)) return declined('not_found', 'There is no such payment.')
  const found = await api.call(context.limit_ms, (sdk) =>
    sdk.transactions.get(request.payment, { include: ['adjustment'] }),
  )
  if (!found.ok) {
    const { kind, code, reason, retry_after_ms } = found.problem
    return kind === 'not_found' ? declined(code, reason) : { outcome: 'unknown', reason, retry_after_ms }
  }
  const transaction = toWire(found.value)
  const earlier = listIn(transaction, 'adjustments').find((entry) => isOurs(entry, request))
  if (earlier !== undefined) return accepted(setup, earlier as JsonRecord, context)
  const plan = planned(setup.amounts, transaction, request)
  if ('outcome' in plan) return plan
  return create(setup, api, plan, context)
}

async function create(
  setup: PaddleSetup,
  api: PaddleApi,
  body: CreateAdjustmentRequestBody,
  context: LookupContext,
): Promise<OperationAnswer> {
  const answer = await api.call<Adjustment>(context.limit_ms, (sdk) => sdk.adjustments.create(body))
  if (answer.ok) return accepted(setup, toWire(answer.value), context)
  const { kind, code, reason, retry_after_ms } = answer.problem
  // None was pending a moment ago, so this may be an earlier try of ours that arrives just now.
  const arriving = code === 'adjustment_pending_refund_request'
  if (kind === 'unavailable' || arriving) return { outcome: 'unknown', reason, retry_after_ms }
  return declined(code, reason)
}

function accepted(setup: PaddleSetup, adjustment: JsonRecord, context: LookupContext): OperationAnswer {
  const provider_id = textIn(adjustment, 'id')
  if (provider_id === undefined) return { outcome: 'unknown', reason: 'the answer names no adjustment' }
  const told_at = new Date(context.now_ms).toISOString()
  return {
    outcome: 'accepted',
    provider_id,
    facts: factsOf({ id: undefined, type: '', told_at, data: adjustment, setup }),
  }
}

/** Paddle took it on, even where its answer cannot be read. */
function factsOf(event: PaddleEvent): readonly Fact[] {
  try {
    const reading = readAdjustment(event)
    return 'facts' in reading ? reading.facts : []
  } catch {
    return []
  }
}

/** What is to be sent, or why nothing is. */
function planned(
  kind: AmountKind,
  transaction: JsonRecord,
  request: RefundRequest,
): CreateAdjustmentRequestBody | OperationAnswer {
  if (textIn(transaction, 'status') !== 'completed')
    return declined('transaction_not_completed', 'Paddle refunds completed transactions only.')
  try {
    const adjusted = listIn(transaction, 'adjustments').filter(takesAway)
    if (adjusted.some((entry) => textIn(entry, 'status') === 'pending_approval'))
      return declined('adjustment_pending_refund_request', 'Another refund of it waits for Paddle to decide.')
    const paid = transactionMoney(transaction, kind)
    if (paid.currency !== request.currency)
      return declined('currency_mismatch', `The payment is in ${paid.currency}.`)
    const common = { action: 'refund' as const, transactionId: request.payment, reason: reasonFor(request) }
    if (adjusted.length === 0 && request.amount_minor === paid.amount_minor)
      return { ...common, type: 'full' }
    const items = itemsFor(request.amount_minor, openLines(kind, transaction, adjusted))
    if (items === null) return declined('amount_above_remaining', 'Less than that is left to refund.')
    return { ...common, type: 'partial', items, taxMode: kind === 'net' ? 'external' : 'internal' }
  } catch (error) {
    return declined('unreadable', `The payment cannot be read: ${unreadableReason(error)}.`)
  }
}

interface OpenLine {
  readonly id: string
  readonly left_minor: bigint
  /** Nothing of it was given back yet. */
  readonly whole: boolean
}

function openLines(
  kind: AmountKind,
  transaction: JsonRecord,
  adjusted: readonly unknown[],
): readonly OpenLine[] {
  const given_back = adjusted.flatMap((entry) => listIn(entry, 'items'))
  return listIn(transaction, 'details', 'line_items').flatMap((line) => {
    const id = textIn(line, 'id')
    if (id === undefined) return []
    const parts = given_back.filter((item) => textIn(item, 'item_id') === id)
    const value = (item: unknown) => valueIn(fieldIn(item, 'totals'), kind, 'items.totals')
    const left_minor = value(line) - parts.reduce<bigint>((sum, part) => sum + value(part), 0n)
    return left_minor > 0n ? [{ id, left_minor, whole: parts.length === 0 }] : []
  })
}

/** Spreads the amount over the lines, first line first; null when they do not hold that much. */
function itemsFor(amount_minor: bigint, lines: readonly OpenLine[]) {
  let left = amount_minor
  const items = lines.flatMap((line) => {
    const covered = left <= line.left_minor
    const part = covered ? left : line.left_minor
    if (part === 0n) return []
    left -= part
    const full = line.whole && part === line.left_minor
    return full
      ? { itemId: line.id, type: 'full' as const, amount: null }
      : { itemId: line.id, type: 'partial' as const, amount: String(part) }
  })
  return left === 0n && items.length > 0 ? items : null
}

/** Adjustments that leave less to refund; one that was rejected or reversed does not. */
function takesAway(adjustment: unknown): boolean {
  const action = textIn(adjustment, 'action') ?? ''
  const status = textIn(adjustment, 'status') ?? ''
  return (
    ['refund', 'credit', 'chargeback'].includes(action) && ['pending_approval', 'approved'].includes(status)
  )
}

function markOf(request: RefundRequest): string {
  return `[paidonce ${request.key}]`
}

function reasonFor(request: RefundRequest): string {
  return `${(request.reason ?? 'requested by the merchant').slice(0, 100)} ${markOf(request)}`
}

function isOurs(adjustment: unknown, request: RefundRequest): boolean {
  const reason = fieldIn(adjustment, 'reason')
  return typeof reason === 'string' && reason.endsWith(markOf(request))
}

function declined(code: string, reason: string): OperationAnswer {
  return { outcome: 'declined', code, reason }
}
