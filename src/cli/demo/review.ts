import { audit } from '../../audit/audit.ts'
import { effectKey } from '../../effects/outgoing-effect.ts'
import type { PaidOnce } from '../../paidonce.ts'
import {
  countDemo,
  countDemoPlayer,
  findDemoBelieved,
  findGrantedTwice,
  findPaidNotGranted,
  listOwedEffects,
} from '../../store/queries/review-demo.ts'
import type { BadDay } from './bad-day.ts'
import type { Receipt } from './receiver.ts'
import type { Sent } from './sender.ts'

/** What came of one provider's part. */
export interface ProviderReview {
  /** Requests to its endpoint, returns of buyers among them. */
  readonly deliveries: number
  /** Orders that money came for. */
  readonly paid: number
  /** Orders with a right that holds now. */
  readonly granted: number
  /** Answers that it gave when it was asked. */
  readonly looked_up: number
  /** Times that it did not answer, and was asked again. */
  readonly unanswered: number
  readonly subscriptions: number
}

/** What the bad day came to: counted in the database and in the receiver's ledger, after the traffic. */
export interface DemoReview {
  readonly seed: number
  readonly database: 'postgres' | 'pglite'
  readonly trouble: Readonly<Record<string, number>>
  /** By endpoint. */
  readonly providers: Readonly<Record<string, ProviderReview>>
  readonly orders: number
  readonly payments: number
  readonly deliveries: number
  /** Deliveries of events that were known already. */
  readonly duplicates: number
  readonly forged_refused: number
  readonly test_events_kept_without_effect: number
  readonly refunds: number
  readonly disputes: number
  /** Rights that hold now. */
  readonly granted: number
  readonly suspended: number
  readonly revoked: number
  readonly exceptions_open: number
  readonly workers_killed: number
  readonly effects_received: number
  /** Received again under the same key, which a receiver recognises: the price of a killed worker. */
  readonly effects_received_again: number
  /** Alerts that are not due yet. */
  readonly effects_not_due_yet: number
  readonly granted_twice: number
  readonly paid_not_granted: number
  readonly forged_believed: number
  readonly honest_turned_away: number
  readonly effects_lost: number
  readonly effects_sent_twice_under_different_keys: number
  readonly left_unsettled: number
  readonly audit_differences: number
  readonly seconds: number
}

/** The numbers that have to be 0. */
export const MUST_BE_ZERO = [
  'granted_twice',
  'paid_not_granted',
  'forged_believed',
  'honest_turned_away',
  'effects_lost',
  'effects_sent_twice_under_different_keys',
  'left_unsettled',
  'audit_differences',
] as const

export interface Witnessed {
  readonly seed: number
  readonly day: Pick<BadDay, 'trouble' | 'orders' | 'unpaid'>
  /** By endpoint. */
  readonly sent: ReadonlyMap<string, Sent>
  readonly ledger: ReadonlyMap<string, Receipt>
  /** On the embedded database, whose directory has one owner, the worker in this process is cut off without acknowledging. */
  readonly workers_killed: number
  readonly took_ms: number
}

export async function review(
  paidonce: PaidOnce,
  witnessed: Witnessed,
  now: Date,
  onProgress: (done: number, total: number) => void,
): Promise<DemoReview> {
  const { database, installation } = paidonce
  const { day, ledger } = witnessed
  const [counts, twice, unpaid, owed, believed, providers] = await Promise.all([
    countDemo(database, 0, now),
    findGrantedTwice(database, 0),
    findPaidNotGranted(database, 0),
    listOwedEffects(database, 0, now),
    findDemoBelieved(database, 0, day.unpaid),
    reviewProviders(paidonce, witnessed),
  ])
  const sent = (what: keyof Sent) => [...witnessed.sent.values()].reduce((sum, one) => sum + one[what], 0)
  const report = await audit(database, { onProgress })
  const receipts = [...ledger.values()]
  const lost = owed.filter(({ id, state, due_now }) =>
    state === 'done' ? !ledger.has(effectKey(installation.epoch, id)) : state === 'dead' || due_now,
  )
  return {
    seed: witnessed.seed,
    database: database.driver,
    trouble: day.trouble,
    providers,
    orders: Number(counts.orders),
    payments: Number(counts.payments),
    deliveries: sent('deliveries'),
    duplicates: Number(counts.duplicates),
    forged_refused: sent('refused') + sent('held'),
    test_events_kept_without_effect: Number(counts.test_events),
    refunds: Number(counts.refunds),
    disputes: Number(counts.disputes),
    granted: Number(counts.granted),
    suspended: Number(counts.suspended),
    revoked: Number(counts.revoked),
    exceptions_open: Number(counts.open_exceptions),
    workers_killed: witnessed.workers_killed,
    effects_received: receipts.length,
    effects_received_again: receipts.reduce((sum, { times }) => sum + times - 1, 0),
    effects_not_due_yet: Number(counts.effects_not_due_yet),
    granted_twice: twice.length + grantedTwiceAtReceiver(receipts),
    paid_not_granted: unpaid.length,
    forged_believed: sent('believed') + believed.length,
    honest_turned_away: sent('turned_away'),
    effects_lost: lost.length,
    effects_sent_twice_under_different_keys: underDifferentKeys(receipts),
    left_unsettled: Number(counts.kept),
    audit_differences: report.differences_total,
    seconds: Math.round(witnessed.took_ms / 100) / 10,
  }
}

async function reviewProviders(
  { database, endpoints }: PaidOnce,
  { day, sent }: Witnessed,
): Promise<DemoReview['providers']> {
  const providers: Record<string, ProviderReview> = {}
  for (const [name, { deliveries }] of sent) {
    const provider = endpoints.get(name)!.provider
    const { namespace, account } = provider
    const orders = day.orders.get(name) ?? []
    const counts = await countDemoPlayer(database, 0, { endpoint: name, namespace, account, orders })
    providers[name] = {
      deliveries,
      paid: Number(counts.paid),
      granted: Number(counts.granted),
      // Each message of a sender that is asked whether it sent it has had its answer.
      looked_up: Number(counts.looked_up + (provider.confirm ? counts.events : 0n)),
      unanswered: Number(counts.unanswered),
      subscriptions: Number(counts.subscriptions),
    }
  }
  return providers
}

/** What one effect means, whatever its key: the same meaning under two keys would be done twice by any receiver. */
function meaning({ topic, subject, item, cause, revision }: Receipt): string {
  return JSON.stringify([topic, subject, item, revision > 0 ? revision : cause])
}

export function underDifferentKeys(receipts: readonly Receipt[]): number {
  return receipts.length - new Set(receipts.map(meaning)).size
}

/** As the receiver sees it: two grants of one right, in the order of their revisions, with no other state between. */
export function grantedTwiceAtReceiver(receipts: readonly Receipt[]): number {
  const rights = new Map<string, Receipt[]>()
  for (const receipt of receipts) {
    if (receipt.topic !== 'entitlement.changed') continue
    const name = JSON.stringify([receipt.subject, receipt.item])
    rights.set(name, [...(rights.get(name) ?? []), receipt])
  }
  let twice = 0
  for (const told of rights.values()) {
    const inOrder = told.sort((a, b) => a.revision - b.revision)
    for (const [place, receipt] of inOrder.entries()) {
      const before = inOrder[place - 1]
      // A revision in between may have been overtaken before it was sent, so only neighbours count.
      const neighbours = before !== undefined && receipt.revision - before.revision <= 1
      if (neighbours && receipt.state === 'granted' && before.state === 'granted') twice += 1
    }
  }
  return twice
}
