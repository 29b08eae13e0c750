import { list, table } from '../table.ts'
import { type DemoReview, MUST_BE_ZERO } from './review.ts'

const MEANING: Readonly<Record<(typeof MUST_BE_ZERO)[number], string>> = {
  granted_twice: 'rights given twice for one payment',
  paid_not_granted: 'orders paid and not given',
  forged_believed: 'forged messages believed',
  honest_turned_away: 'honest messages turned away',
  effects_lost: 'effects promised and never received',
  effects_sent_twice_under_different_keys: 'effects sent twice as if they were two',
  left_unsettled: 'messages left unsettled',
  audit_differences: 'stored values that the facts do not give',
}

/** The summary for somebody who never saw PaidOnce. */
export function reviewInWords(review: DemoReview): string {
  const wrong = MUST_BE_ZERO.filter((name) => review[name] !== 0)
  return [
    `A bad day at a shop, on ${review.database === 'pglite' ? 'the embedded database' : 'PostgreSQL'}, seed ${review.seed}, ${review.seconds} s.\n`,
    table(
      ['what the shop went through', 'orders'],
      Object.entries(review.trouble).sort(([, a], [, b]) => b - a),
    ),
    table(
      ['provider', 'deliveries', 'orders paid', 'rights that hold', 'answers when asked', 'no answer'],
      Object.entries(review.providers).map(([name, one]) => [
        one.subscriptions > 0 ? `${name} (${one.subscriptions} subscriptions)` : name,
        one.deliveries,
        one.paid,
        one.granted,
        one.looked_up,
        one.unanswered,
      ]),
    ),
    list([
      ['orders', review.orders],
      ['payments', review.payments],
      ['deliveries received', review.deliveries],
      ['  of them repeats of what was known', review.duplicates],
      ['  of them forged, cut short or stale: refused', review.forged_refused],
      ['  of them test events: kept, without effect', review.test_events_kept_without_effect],
      ['refunds / disputes', `${review.refunds} / ${review.disputes}`],
      ['rights that hold now', review.granted],
      ['rights suspended / revoked', `${review.suspended} / ${review.revoked}`],
      ['decisions that wait for a person', review.exceptions_open],
      [
        review.database === 'pglite'
          ? 'workers cut off while they delivered'
          : 'workers killed while they delivered',
        review.workers_killed,
      ],
      ['effects received by the shop', review.effects_received],
      ['  of them again under the same key', review.effects_received_again],
    ]),
    table(
      ['what must never happen', 'found'],
      MUST_BE_ZERO.map((name) => [MEANING[name], review[name]]),
    ),
    wrong.length === 0
      ? 'Every payment was recorded once and fulfilled once.\n'
      : `WRONG: ${wrong.map((name) => `${review[name]} ${MEANING[name]}`).join('; ')}.\n`,
  ].join('\n')
}
