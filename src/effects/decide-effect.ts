import { Fault } from '../facts/fault.ts'
import type { Database, Transaction } from '../store/database.ts'
import { closeOpenExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import { decideEffect, type EffectRow, lockEffect } from '../store/queries/decide-effect.ts'
import { notifyEffects } from '../store/queries/notify-effects.ts'
import { findNewestRevision } from '../store/queries/supersede-older-effects.ts'
import { errorText } from './error-text.ts'

/** A person's decision about one effect. */
export interface EffectDecision {
  readonly id: bigint
  /** Where its tenant lives. Default 0, the only one on a single server. */
  readonly bucket?: number
  /** Who decides; kept with the effect. */
  readonly actor: string
  /** Why; kept with the effect. */
  readonly reason: string
  readonly now: Date
}

/**
 * Gives an effect another round of attempts, at once, and closes the exception about it. For effects that are dead or
 * discarded, or wait for their next attempt. Throws Fault `not_found`, and `effect_not_retriable` for any other, also
 * for a level effect that a newer revision has overtaken.
 */
export async function retryEffect(db: Database, decision: EffectDecision): Promise<void> {
  await decide(db, decision, async (tx, bucket, effect) => {
    const idle = effect.state === 'due' && !isOut(effect, decision.now)
    if (effect.state !== 'dead' && effect.state !== 'discarded' && !idle) refuse(effect, 'retried')
    if (effect.revision > 0n && (await findNewestRevision(tx, bucket, effect)) > effect.revision) {
      throw new Fault(
        'effect_not_retriable',
        `Effect ${effect.id} announces revision ${effect.revision} of ${effect.item}, and a newer one was written since. Discard it; the newer one is on its way.`,
      )
    }
    await decideEffect(tx, bucket, decision.now, {
      id: effect.id,
      state: 'due',
      note: note('Retried', decision),
    })
  })
  // Only a hint: the decision stands, and a worker finds it by itself.
  await notifyEffects(db).catch(() => undefined)
}

/**
 * Ends an effect undone, and closes the exception about it. For effects that are dead or wait for their next attempt; of
 * one that was superseded only the exception is closed. Throws Fault `not_found` or `effect_not_retriable`.
 */
export async function discardEffect(db: Database, decision: EffectDecision): Promise<void> {
  await decide(db, decision, async (tx, bucket, effect) => {
    if (effect.state === 'superseded') return
    const idle = effect.state === 'due' && !isOut(effect, decision.now)
    if (effect.state !== 'dead' && !idle) refuse(effect, 'discarded')
    await decideEffect(tx, bucket, decision.now, {
      id: effect.id,
      state: 'discarded',
      note: note('Discarded', decision),
    })
  })
}

async function decide(
  db: Database,
  decision: EffectDecision,
  write: (tx: Transaction, bucket: number, effect: EffectRow) => Promise<void>,
): Promise<void> {
  const { id, bucket = 0, now } = decision
  if (decision.actor.trim() === '' || decision.reason.trim() === '') {
    throw new Fault('effect_not_retriable', 'Say who decides and why: actor and reason must not be blank.')
  }
  await inTransaction(db, async (tx) => {
    const effect = await lockEffect(tx, bucket, id)
    if (!effect)
      throw new Fault('not_found', `There is no effect ${id}. List them with \`paidonce effects list\`.`)
    await write(tx, bucket, effect)
    const subject = { tenant: effect.tenant, subject_kind: 'effect' as const, subject_key: String(id) }
    const open = await loadOpenExceptions(tx, bucket, 'effects', [subject])
    await closeOpenExceptions(tx, bucket, now, open)
  })
}

function isOut(effect: EffectRow, now: Date): boolean {
  return effect.leased && effect.available_at > now
}

function refuse(effect: EffectRow, what: string): never {
  const state = effect.state === 'due' ? 'being delivered right now' : effect.state
  throw new Fault('effect_not_retriable', `Effect ${effect.id} is ${state} and cannot be ${what}.`)
}

function note(what: string, { actor, reason }: EffectDecision): string {
  return errorText(`${what} by ${actor}: ${reason}`)
}
