import type { Database } from '../store/database.ts'
import { ALERT_TOPIC, openExceptions } from '../store/exception-alerts.ts'
import { type EffectEnding, finishEffects } from '../store/queries/finish-effects.ts'
import type { LeasedEffect } from '../store/queries/lease-effects.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
import { findNewestRevision } from '../store/queries/supersede-older-effects.ts'
import type { HeldEffect } from './held-effect.ts'

export type Buried = 'dead' | 'superseded' | 'lost'

/**
 * Declares a held effect dead and raises its one exception, in one transaction. A level effect that a newer revision
 * has overtaken is superseded instead: the newer one says it all. A dead alert raises an exception that alerts nobody,
 * or it would raise others about itself for ever.
 */
export async function bury(
  db: Database,
  held: HeldEffect,
  now: Date,
  why: Pick<EffectEnding, 'last_error' | 'untried'>,
): Promise<Buried> {
  const { bucket, row, token } = held
  const tx = await db.begin()
  try {
    const newest = row.revision > 0n ? await findNewestRevision(tx, bucket, row) : 0n
    const state = newest > row.revision ? 'superseded' : 'dead'
    const ending = { id: row.id, token, state, available_at: now, ...why } as const
    const ended = await finishEffects(tx, bucket, now, [ending])
    if (!ended.has(row.id)) return 'lost'
    if (state === 'dead') {
      await openExceptions(tx, bucket, now, [failure(row, row.attempts - (why.untried ? 1 : 0), now)], {
        alerts: row.topic !== ALERT_TOPIC,
      })
    }
    await tx.commit()
    return state
  } finally {
    await tx.rollback()
  }
}

/** What the last error said may name a person, so it stays with the effect and out of the message. */
function failure(row: LeasedEffect, attempts: number, now: Date): NewException {
  const about = row.item === '-' ? row.subject_key : `${row.item} of ${row.subject_key}`
  return {
    tenant: row.tenant,
    subject_kind: 'effect',
    subject_id: 0n,
    subject_key: String(row.id),
    kind: 'effect_failed',
    cause: '-',
    origin: 'effects',
    severity: row.lane === 'access' ? 'urgent' : 'warning',
    message:
      `${row.topic} (${row.subject_kind} ${about}) could not be delivered in ${attempts} attempts and is no ` +
      `longer tried. See the last error of effect ${row.id}, mend its cause, then retry the effect or discard it.`,
    alert_at: now,
  }
}
