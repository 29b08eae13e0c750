import type { Mode, Translation } from '../facts/event.ts'
import type { Refusal } from '../facts/refusal.ts'
import { refusal } from '../facts/refusal.ts'
import type { ReturnHint, Verified } from './contract.ts'
import { unreadableReason } from './unreadable.ts'

/** The stand-in for a secret's label where nothing is signed. */
const UNSIGNED: Verified = { refused: false, secret_label: 'unsigned', signed_at_ms: null, signed_id: null }

/** What a message says that names a payment and proves nothing about it. */
export interface Hint extends ReturnHint {
  /** The provider's word for what happened; only shown. */
  readonly type: string
}

/** Takes a message that nothing proves only as far as it names a payment to ask about. */
export function verifyHint(readHint: () => Hint): Verified | Refusal {
  try {
    readHint()
    return UNSIGNED
  } catch (error) {
    return refusal(
      'signature_missing',
      `nothing is signed, and it names no payment: ${unreadableReason(error)}`,
    )
  }
}

/** Reads such a message: no fact, one question. Never throws. */
export function translateHint(
  expects: readonly string[] | null,
  mode: Mode,
  readHint: () => Hint,
): Translation {
  const envelope = { event_id: null, occurred_at: null, mode, account: null, api_version: null, facts: [] }
  try {
    const { type, lookup } = readHint()
    if (expects !== null && !expects.includes(type)) {
      return { ...envelope, type, outcome: 'ignored', reason: 'the endpoint does not expect this type' }
    }
    return { ...envelope, type, outcome: 'facts', reason: '', lookups: [lookup] }
  } catch (error) {
    return { ...envelope, type: 'return', outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

/** The hint of a browser's return; null when it names no payment. Never throws. */
export function returnHint(readHint: () => Hint): ReturnHint | null {
  try {
    const { lookup, canceled } = readHint()
    return { lookup, canceled }
  } catch {
    return null
  }
}
