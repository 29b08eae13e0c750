import type { Queryable, Statement } from '../database.ts'

/** Workers listen on this channel; a notification is a hint that effects are due. */
export const EFFECTS_CHANNEL = 'paidonce_effects'

const NOTIFY: Statement = { name: 'notify-effects', text: 'select pg_notify($1, $2)' }

/**
 * Wakes the workers. Call it after the commit that wrote effects, never inside: there it would serialise commits.
 * May be lost without harm, since workers also look by themselves.
 */
export async function notifyEffects(db: Queryable): Promise<void> {
  await db.query(NOTIFY, [EFFECTS_CHANNEL, ''])
}
