import type { ExceptionKind } from './exception.ts'

/** What one kind of exception means and what a person does about it, in plain words. */
export interface ExceptionGuide {
  readonly severity: 'notice' | 'warning' | 'urgent' | 'warning or urgent'
  readonly means: string
  /** The next step. */
  readonly next: string
  /** What closes it. */
  readonly ends: string
}

const FACTS = 'facts or a decision that explain it'
const LOOK_UP = 'ask the provider with `paidonce lookup`, or look in its dashboard'

/** Every kind. `docs/exceptions.md` is this table; a test compares the two. */
export const EXCEPTION_GUIDE: Readonly<Record<ExceptionKind, ExceptionGuide>> = {
  signature_failed: {
    severity: 'urgent',
    means: 'an endpoint refused many signatures within a minute',
    next: "compare its secret with the provider's dashboard (`paidonce doctor` shows fingerprints); during a rotation configure both",
    ends: 'a person, once it is mended',
  },
  unreadable_event: {
    severity: 'urgent',
    means: 'authentic messages that the adapter cannot read; their bytes are kept',
    next: 'upgrade or mend the mapping, then run `paidonce replay --state unreadable`',
    ends: 'a replay that reads them',
  },
  unmapped_event: {
    severity: 'urgent',
    means: 'a product or price that nothing is sold under here; the money is recorded and nothing is granted',
    next: 'add it to the catalogue: what waits is then granted once, by itself',
    ends: FACTS,
  },
  event_without_id: {
    severity: 'urgent',
    means: 'an authentic message without the id that this provider always sends',
    next: 'ask the provider what changed; nothing was granted for it',
    ends: 'a replay that reads it',
  },
  event_content_changed: {
    severity: 'warning',
    means: 'one event id came with two contents that state different things',
    next: 'compare both with `paidonce events show` and ask the provider which one is right',
    ends: 'a person, once it is settled',
  },
  event_misdirected: {
    severity: 'warning or urgent',
    means: 'events of another account, or live events at a test installation',
    next: 'add an endpoint for that account, or stop the sender; then replay',
    ends: 'a replay that files them where they belong',
  },
  clock_skew: {
    severity: 'urgent',
    means: "this machine's clock is far from the database's, or from the times that senders sign",
    next: 'set both clocks by NTP; `paidonce doctor` shows the difference',
    ends: 'clocks that agree; a person, where signed times told it',
  },
  body_too_large: {
    severity: 'urgent',
    means: 'a delivery was refused for its size',
    next: "raise `limits.body_max` and have it sent again from the provider's dashboard",
    ends: 'a person, once it is sent again',
  },
  stale_secret: {
    severity: 'warning',
    means: 'a secret that was replaced days ago is still used',
    next: 'finish the rotation at the provider, then remove the old secret',
    ends: 'a person, once the rotation is finished',
  },
  unknown_order: {
    severity: 'urgent',
    means: 'money for an order that nobody registered',
    next: 'register the order: what is parked is applied in the same transaction; or refund the payment',
    ends: FACTS,
  },
  amount_mismatch: {
    severity: 'warning',
    means: 'the amount is not told, is nothing, or is more than the order asks for',
    next: `${LOOK_UP}; then accept the payment, or refund the difference`,
    ends: FACTS,
  },
  currency_mismatch: {
    severity: 'warning or urgent',
    means: 'money in another currency than the order asks for, or in one that nobody told',
    next: 'accept the payment by a decision, or refund it',
    ends: FACTS,
  },
  account_mismatch: {
    severity: 'urgent',
    means: 'money through another account than the order may be paid through',
    next: 'find out who used its reference, then accept the payment by a decision, or refund it',
    ends: FACTS,
  },
  underpayment: {
    severity: 'warning',
    means: 'less came than the order asks for; nothing is granted',
    next: 'ask the buyer for the rest, write the rest off by a decision, or refund what came',
    ends: FACTS,
  },
  surplus_payment: {
    severity: 'urgent',
    means: 'more came than the order asks for',
    next: 'refund the payment that the message names; that touches no right',
    ends: FACTS,
  },
  duplicate_payment: {
    severity: 'urgent',
    means: 'the same purchase was paid twice',
    next: 'refund the payment that the message names; that touches no right',
    ends: FACTS,
  },
  paid_after_close: {
    severity: 'urgent',
    means: 'money moved after the order was closed or had expired',
    next: 'reopen the order by a decision, or refund the payment',
    ends: FACTS,
  },
  refund_before_payment: {
    severity: 'warning',
    means: 'a refund is known and its payment is not',
    next: `wait for the payment's message, or ${LOOK_UP}`,
    ends: FACTS,
  },
  unexplained_refund: {
    severity: 'warning',
    means: 'the provider counts more as refunded than the refunds that are known',
    next: "list this payment's refunds at the provider, or look the payment up",
    ends: FACTS,
  },
  refund_failed: {
    severity: 'urgent',
    means: 'a refund failed or came back: the buyer does not have this money',
    next: 'find out why at the provider and give it back another way',
    ends: FACTS,
  },
  refund_exceeds_payment: {
    severity: 'urgent',
    means: 'more went back than was collected',
    next: "compare its refunds and disputes with the provider's list",
    ends: FACTS,
  },
  late_reversal: {
    severity: 'urgent',
    means: 'the bank took the money back after the payment had succeeded',
    next: 'ask the buyer for another payment; do not charge again by yourself',
    ends: FACTS,
  },
  dispute_opened: {
    severity: 'warning or urgent',
    means: 'an inquiry (warning) or a chargeback (urgent) is open',
    next: "answer it in the provider's dashboard; do not refund a chargeback as well",
    ends: FACTS,
  },
  dispute_deadline: {
    severity: 'urgent',
    means: 'a dispute waits for our answer and its deadline is near',
    next: "answer it today in the provider's dashboard, or accept it there",
    ends: 'an answer that the provider confirms; the deadline',
  },
  fact_conflict: {
    severity: 'urgent',
    means: 'two statements contradict each other; what the order gives stays as it is',
    next: `${LOOK_UP}; then replay or correct the wrong one`,
    ends: FACTS,
  },
  right_under_review: {
    severity: 'warning',
    means:
      'money came back to us or was decided in part, and a policy says that a person decides about access',
    next: 'decide to keep access with `paidonce decide`, or leave it suspended and close this',
    ends: FACTS,
  },
  decision_outdated: {
    severity: 'warning',
    means: 'a decision rests on facts that have changed since; it still stands',
    next: 'look at the order again, then confirm the decision or withdraw it',
    ends: FACTS,
  },
  lookup_failed: {
    severity: 'urgent',
    means: 'the provider gives no usable answer to a look-up',
    next: "mend the credentials that the message names, or look at the provider's status page; it is asked again by itself",
    ends: 'an answer',
  },
  confirmation_failed: {
    severity: 'urgent',
    means:
      'messages wait for their provider to confirm that it sent them; nothing of them is believed before',
    next: "look at the provider's status page, and whether this machine may reach it",
    ends: 'a person, once it answers',
  },
  operation_unknown: {
    severity: 'urgent',
    means: 'a charge or refund of ours may or may not have happened',
    next: 'look for it at the provider, then say what you found with `paidonce operations resolve`; never send it again under another key',
    ends: 'evidence: an answer, a message, a look-up, or a person',
  },
  operation_failed: {
    severity: 'warning',
    means: 'a refund of ours was refused, or was not sent because something stands against it',
    next: '`paidonce operations show` names what; then confirm, retry or abandon it',
    ends: 'what the person decides; the refund',
  },
  effect_failed: {
    severity: 'warning or urgent',
    means: 'an effect is dead after its last attempt; for access this is urgent',
    next: 'mend the receiver, then `paidonce effects retry ID`, or `effects discard ID --reason ...`',
    ends: 'the retry or the discarding; a newer revision that arrives',
  },
  irreversible_effect_unjustified: {
    severity: 'urgent',
    means: 'something that cannot be taken back has gone out, and what justified it is gone',
    next: 'take it back by hand where that is possible, and write down what was done',
    ends: FACTS,
  },
  settling_failed: {
    severity: 'urgent',
    means: 'an event is kept and could not be settled in many attempts',
    next: '`paidonce events show ID` names the error; usually it is your own onEntitlement, or a lock of your own code',
    ends: 'the attempt that succeeds',
  },
  recon_break: {
    severity: 'urgent',
    means: "our records and the provider's list differ",
    next: 'compare both; settle what the provider alone knows, or explain the difference',
    ends: FACTS,
  },
  derivation_parked: {
    severity: 'urgent',
    means: 'a release would change more orders than it may without being asked',
    next: 'read its plan, then approve it or stay on the former release',
    ends: FACTS,
  },
  endpoint_silent: {
    severity: 'warning or urgent',
    means:
      'no authentic message for long, though payments exist there; urgent when money became known without one meanwhile',
    next: "look in the provider's dashboard whether the webhook is still there, enabled, and sent to this address",
    ends: 'the next authentic message',
  },
  endpoint_refusing: {
    severity: 'urgent',
    means: 'an endpoint has refused every signed delivery for a while',
    next: "compare its secret with the provider's dashboard; the provider will stop sending after some days",
    ends: 'the next authentic message; a day without refusals',
  },
  events_stuck: {
    severity: 'urgent',
    means: 'what was kept has been waiting for too long to be settled',
    next: 'see that `paidonce work` or `serve` runs; `paidonce events list --state kept` shows what waits and why',
    ends: 'the last of them is settled',
  },
  lookups_stuck: {
    severity: 'warning',
    means: 'questions to a provider are overdue and nobody asks them',
    next: 'see that `paidonce work` or `serve` runs, and that the endpoint is still configured',
    ends: 'the last of them is asked',
  },
  paid_unfulfilled: {
    severity: 'urgent',
    means: 'an order is paid and what it gives has not reached your shop for a while',
    next: 'see that effects are delivered (`paidonce effects list --state due` names the last error) and mend the receiver',
    ends: 'the delivery, or a newer revision',
  },
}
