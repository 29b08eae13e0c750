import type { SubscriptionStatus } from '../../facts/subscription.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import { subscriptionSubject } from '../paypal/paypal-object.ts'
import { Unreadable } from '../unreadable.ts'
import type { Form } from './form.ts'
import { type IpnSetup, optionalId, type Reading, referenceOf, requiredId, timeOf } from './ipn-message.ts'

interface Told {
  readonly status: SubscriptionStatus
  /** Field that tells when; left out where the message has none. */
  readonly time?: string
}

/** A sign-up is no payment: the first charge makes a subscription active. */
const STATUSES: Readonly<Record<string, Told>> = {
  subscr_signup: { status: 'incomplete', time: 'subscr_date' },
  subscr_failed: { status: 'past_due' },
  subscr_eot: { status: 'expired' },
  recurring_payment_profile_created: { status: 'incomplete', time: 'time_created' },
  recurring_payment_failed: { status: 'past_due' },
  recurring_payment_skipped: { status: 'past_due' },
  recurring_payment_suspended: { status: 'paused' },
  recurring_payment_suspended_due_to_max_failed_payment: { status: 'unpaid' },
  recurring_payment_profile_cancel: { status: 'canceled' },
  recurring_payment_expired: { status: 'expired' },
}

const IGNORED: Readonly<Record<string, string>> = {
  subscr_cancel: 'no more charges follow; the paid time runs on until subscr_eot',
  subscr_modify: 'a change of terms; the next charge tells the price',
  mp_signup: 'an agreement to charge later; no money moved',
  mp_cancel: 'an agreement ended; no money moved',
}

/** An end holds whatever its time, so where none is told the earliest will do. */
const ENDS: readonly SubscriptionStatus[] = ['canceled', 'expired']
const EARLIEST = '1970-01-01T00:00:00.000Z'

/** True for messages about a subscription that tell of no payment. */
export function isSubscription(kind: string | undefined): kind is string {
  return kind !== undefined && (Object.hasOwn(STATUSES, kind) || Object.hasOwn(IGNORED, kind))
}

/**
 * What became of a subscription. Most of these messages name no time, and a state without one cannot be put in order:
 * it is asked for where PayPal can be asked.
 */
export function readSubscription(setup: IpnSetup, form: Form, kind: string): Reading {
  const ignored = IGNORED[kind]
  if (ignored !== undefined) return { ignored }
  const { status: told, time } = STATUSES[kind]!
  const status = told === 'incomplete' && form.text('period1') !== undefined ? 'trialing' : told
  const id = optionalId(form, 'subscr_id') ?? requiredId(form, 'recurring_payment_id')
  const at = (time && timeOf(form, time)) ?? (ENDS.includes(status) ? EARLIEST : undefined)
  if (at === undefined) return withoutTime(setup, id, status)
  const subject = subscriptionSubject(setup.account, id)
  const product = form.text('item_number')
  return { facts: [subscriptionStatus(subject, { status, at, order: referenceOf(setup, form), product })] }
}

function withoutTime(setup: IpnSetup, id: string, status: SubscriptionStatus): Reading {
  if (setup.asks) return { facts: [], lookups: [{ object: 'subscription', id }] }
  if (status === 'past_due') return { ignored: 'a charge failed; PayPal tries again, and names no time' }
  throw new Unreadable('it names no time; set clientId and clientSecret, so that PayPal can be asked')
}
