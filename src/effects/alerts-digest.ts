import { randomUUID } from 'node:crypto'
import type { Database } from '../store/database.ts'
import { finishEffects } from '../store/queries/finish-effects.ts'
import { type AlertsLike, lookAtAlerts, takeAlerts } from '../store/queries/take-alerts.ts'
import { DIGEST_TOPIC } from './alerts-text.ts'
import { type Deliverer, hold, isOutcome } from './outcome.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

/** When alerts that go the same way become one message. */
export interface DigestOptions {
  /** More alerts than this within the window become one message. Default 5. */
  readonly more_than?: number | undefined
  /** Length of the window, milliseconds. Default 600,000. Urgent ones wait a minute of it at most. */
  readonly within_ms?: number | undefined
}

export interface DigestLimits {
  readonly more_than: number
  readonly within_ms: number
}

/** An alert on its way, and what shares that way. */
export interface OnItsWay {
  readonly effect: OutgoingEffect
  readonly bucket: number
  readonly like: readonly string[]
  readonly urgent: boolean
  readonly to: Deliverer
}

/** So long does whoever tells them all wait for those that other workers have in hand to be put back. */
const GATHER_MS = 2_000
/** The others come so much later, so that the one finds them all put back. */
const BEHIND_MS = 10_000
const URGENT_WAIT_MAX_MS = 60_000
/** An alert that has waited so long goes together with whatever else waits. */
const FRESH_MS = 60_000
const TOGETHER_MAX = 2_000
/** Longer than an attempt may take. */
const LEASE_MS = 120_000
/** So long do those wait whose common message failed: one of them tries the receiver, not each. */
const FAILED_MS = 300_000
const CROWD_MAX = 1_000

/**
 * Tells of an alert alone, or of all that wait with it, or holds it back until they can be told together. Nothing is kept
 * in memory: who has been told, who waits and who is in whose hands stands in the outbox, so any number of workers may
 * do this.
 */
export async function deliverAlert(
  database: Database,
  now_ms: () => number,
  limits: DigestLimits,
  way: OnItsWay,
  context: Parameters<Deliverer>[1],
): Promise<unknown> {
  const { effect, bucket, like, urgent, to } = way
  const at_ms = now_ms()
  const alike: AlertsLike = { id: effect.id, tenant: effect.tenant, like, now: new Date(at_ms) }
  const crowd = await lookAtAlerts(database, bucket, alike, {
    since: new Date(at_ms - limits.within_ms),
    soon: new Date(at_ms + BEHIND_MS),
    limit: CROWD_MAX,
  })
  const others = crowd.waiting + crowd.out
  const stale = at_ms - effect.created_at.getTime() > FRESH_MS && others > 0
  if (crowd.sent + others + 1 <= limits.more_than && !stale) return to(effect, context)

  const full = crowd.sent >= limits.more_than && crowd.last_sent_at !== null
  const pause_ms = urgent ? Math.min(limits.within_ms, URGENT_WAIT_MAX_MS) : limits.within_ms
  const due_ms = full ? crowd.last_sent_at!.getTime() + pause_ms : at_ms
  const is_first = crowd.first_waiting === null || effect.id < crowd.first_waiting
  if (at_ms < due_ms) return hold(due_ms - at_ms + (is_first ? 0 : BEHIND_MS))
  const leads = crowd.first_near === null || effect.id < crowd.first_near
  if (crowd.out > 0) return hold(leads ? GATHER_MS : BEHIND_MS)
  return tellTogether(database, now_ms, way, alike, context)
}

async function tellTogether(
  database: Database,
  now_ms: () => number,
  { effect, bucket, to }: OnItsWay,
  alike: AlertsLike,
  context: Parameters<Deliverer>[1],
): Promise<unknown> {
  const token = randomUUID()
  const until = new Date(now_ms() + LEASE_MS)
  const taken = await takeAlerts(database, bucket, alike, { token, until, limit: TOGETHER_MAX })
  const end = async (told: boolean) => {
    const now = now_ms()
    const ending = told
      ? ({ state: 'done', available_at: new Date(now), last_error: '', untried: false } as const)
      : ({ state: 'due', available_at: new Date(now + FAILED_MS), last_error: '', untried: true } as const)
    await finishEffects(
      database,
      bucket,
      new Date(now),
      taken.map(({ id }) => ({ ...ending, id, token })),
    )
  }
  if (taken.length === 0) return to(effect, context)
  let outcome: unknown
  try {
    outcome = await to(asDigest(effect, [effect.payload, ...taken.map(({ payload }) => payload)]), context)
  } catch (error) {
    await end(false)
    throw error
  }
  await end(!isOutcome(outcome) || outcome.type === 'discard')
  return outcome
}

function asDigest(effect: OutgoingEffect, exceptions: readonly OutgoingEffect['payload'][]): OutgoingEffect {
  return { ...effect, topic: DIGEST_TOPIC, payload: { count: exceptions.length, exceptions } }
}
