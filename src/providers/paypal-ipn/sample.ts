import { paypalValue } from '../paypal/amount.ts'
import { idFrom } from '../paypal/made-up.ts'
import type { SampleMaker, SampleWish } from '../sample-maker.ts'

/** The account that samples are for. */
export const SAMPLE_RECEIVER = 'STANDINSELLER'

type Fields = Readonly<Record<string, string | undefined>>

/** The fields of each message beyond those that all have; named as `typeOf` names their types. */
const MESSAGES: Readonly<Record<string, (wish: SampleWish) => Fields>> = {
  'web_accept/Completed': (wish) => payment(wish, 'Completed'),
  'web_accept/Pending': (wish) =>
    payment(wish, 'Pending', { pending_reason: 'echeck', payment_type: 'echeck' }),
  'web_accept/Pending/authorization': (wish) => payment(wish, 'Pending', { pending_reason: 'authorization' }),
  'web_accept/In-Progress': (wish) => payment(wish, 'In-Progress'),
  'web_accept/Created': (wish) => payment(wish, 'Created'),
  'web_accept/Processed': (wish) => payment(wish, 'Processed'),
  'web_accept/Denied': (wish) => payment(wish, 'Denied'),
  'web_accept/Failed': (wish) => payment(wish, 'Failed'),
  'web_accept/Expired': (wish) => payment(wish, 'Expired'),
  'web_accept/Voided': (wish) => payment(wish, 'Voided'),
  Refunded: (wish) => back(wish, 'Refunded', { reason_code: 'refund' }),
  'Partially-Refunded': (wish) => back(wish, 'Partially-Refunded', { reason_code: 'refund' }),
  Reversed: (wish) => back(wish, 'Reversed', { reason_code: 'chargeback', case_id: caseOf(wish) }),
  Canceled_Reversal: (wish) => again(wish, 'Canceled_Reversal', { case_id: caseOf(wish) }),
  'adjustment/Completed': (wish) =>
    back(wish, 'Completed', { txn_type: 'adjustment', reason_code: 'chargeback', case_id: caseOf(wish) }),
  'adjustment/Completed/credit': (wish) =>
    again(wish, 'Completed', { txn_type: 'adjustment', case_id: caseOf(wish) }),
  new_case: (wish) => ({
    txn_type: 'new_case',
    txn_id: wish.payment,
    case_id: caseOf(wish),
    case_type: 'complaint',
    reason_code: 'non_receipt',
    case_creation_date: pacific(wish.at_s),
  }),
  subscr_signup: (wish) => subscription(wish, 'subscr_signup', { subscr_date: pacific(wish.at_s) }),
  subscr_payment: (wish) =>
    payment(wish, 'Completed', { txn_type: 'subscr_payment', subscr_id: subscriptionOf(wish) }),
  subscr_failed: (wish) => subscription(wish, 'subscr_failed'),
  subscr_cancel: (wish) => subscription(wish, 'subscr_cancel', { subscr_date: pacific(wish.at_s) }),
  subscr_eot: (wish) => subscription(wish, 'subscr_eot'),
  subscr_modify: (wish) => subscription(wish, 'subscr_modify', { subscr_date: pacific(wish.at_s) }),
  recurring_payment_profile_created: (wish) => profile(wish, 'recurring_payment_profile_created'),
  recurring_payment: (wish) =>
    payment(wish, 'Completed', {
      txn_type: 'recurring_payment',
      recurring_payment_id: subscriptionOf(wish),
      next_payment_date: pacific(wish.at_s + 30 * 86_400),
    }),
  recurring_payment_failed: (wish) => profile(wish, 'recurring_payment_failed'),
  recurring_payment_skipped: (wish) => profile(wish, 'recurring_payment_skipped'),
  recurring_payment_profile_cancel: (wish) => profile(wish, 'recurring_payment_profile_cancel'),
  recurring_payment_expired: (wish) => profile(wish, 'recurring_payment_expired'),
  mp_signup: () => ({ txn_type: 'mp_signup', mp_id: 'B-STANDIN0001' }),
  mp_cancel: () => ({ txn_type: 'mp_cancel', mp_id: 'B-STANDIN0001' }),
  masspay: (wish) => ({ txn_type: 'masspay', txn_id_1: wish.payment, mc_gross_1: value(wish) }),
}

/** Messages as PayPal posts them. Nothing in them proves anything: a stand-in has to confirm that it sent them. */
export const samples: SampleMaker = {
  events: Object.keys(MESSAGES),
  steps: {
    paid: ['web_accept/Completed'],
    failed: ['web_accept/Failed'],
    refunded: ['Refunded'],
    dispute_opened: ['Reversed'],
    dispute_lost: ['adjustment/Completed'],
    dispute_won: ['Canceled_Reversal'],
  },
  currency: 'EUR',
  unsigned: true,
  payment: (seed) => idFrom('payment', seed),
  make(wish) {
    const event = wish.event ?? 'web_accept/Completed'
    const fields = Object.hasOwn(MESSAGES, event) ? MESSAGES[event] : undefined
    if (fields === undefined) throw new RangeError(`There is no IPN sample called ${event}.`)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return { method: 'POST', query: '', headers, body: formOf({ ...fields(wish), ...common(wish, event) }) }
  },
}

/** Percent-encodes in UTF-8; the text of samples is ASCII, which is the same in every charset here. */
function formOf(fields: Fields): string {
  const pairs = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return new URLSearchParams(pairs).toString()
}

function common(wish: SampleWish, event: string): Fields {
  return {
    mc_currency: wish.currency,
    invoice: wish.order,
    custom: wish.order,
    payer_id: 'STANDINPAYER1',
    payer_status: 'verified',
    business: 'seller@shop.example',
    receiver_email: 'seller@shop.example',
    receiver_id: SAMPLE_RECEIVER,
    residence_country: 'DE',
    charset: 'windows-1252',
    notify_version: '3.9',
    verify_sign: 'StandInVerifySign',
    ipn_track_id: idFrom('track', event, wish.payment, wish.at_s).toLowerCase().slice(0, 13),
    ...(wish.live ? {} : { test_ipn: '1' }),
  }
}

function payment(wish: SampleWish, payment_status: string, more: Fields = {}): Fields {
  return {
    txn_type: 'web_accept',
    txn_id: wish.payment,
    payment_status,
    payment_type: 'instant',
    payment_date: pacific(wish.at_s),
    mc_gross: value(wish),
    item_number: 'STAND-IN-1',
    ...more,
  }
}

/** A transaction of its own that takes money out. */
function back(wish: SampleWish, payment_status: string, more: Fields): Fields {
  return { ...again(wish, payment_status, more), mc_gross: `-${value(wish)}` }
}

/** A transaction of its own that follows another. */
function again(wish: SampleWish, payment_status: string, more: Fields): Fields {
  return {
    txn_id: idFrom(payment_status, wish.payment, wish.amount_minor, wish.at_s),
    parent_txn_id: wish.payment,
    payment_status,
    payment_date: pacific(wish.at_s),
    mc_gross: value(wish),
    ...more,
  }
}

function subscription(wish: SampleWish, txn_type: string, more: Fields = {}): Fields {
  return {
    txn_type,
    subscr_id: subscriptionOf(wish),
    recurring: '1',
    mc_amount3: value(wish),
    period3: '1 M',
    ...more,
  }
}

function profile(wish: SampleWish, txn_type: string): Fields {
  return {
    txn_type,
    recurring_payment_id: subscriptionOf(wish),
    time_created: pacific(wish.at_s),
    amount: value(wish),
  }
}

function subscriptionOf(wish: SampleWish): string {
  return `I-${idFrom('subscription', wish.payment).slice(0, 12)}`
}

function caseOf(wish: SampleWish): string {
  return `PP-D-${idFrom('dispute', wish.payment).slice(0, 8)}`
}

function value(wish: SampleWish): string {
  return paypalValue(wish.amount_minor, wish.currency)
}

/** A time as IPN writes it; standard time all year round, which names the same instant. */
export function pacific(at_s: number): string {
  const [, , day, month, year, clock] =
    /^(\w+), (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(new Date((at_s - 8 * 3600) * 1000).toUTCString()) ?? []
  return `${clock} ${month} ${day}, ${year} PST`
}
