import type { Mode, Translation } from '../../facts/event.ts'
import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import { type PaypalMoney, readMoney } from '../paypal/amount.ts'
import { type OrderReferenceOption, orderReference } from '../paypal/order-reference.ts'
import { idOf } from '../paypal/paypal-object.ts'
import { Unreadable } from '../unreadable.ts'
import type { Form } from './form.ts'

export interface IpnSetup {
  readonly account: string
  /** Our account: PayPal's id of it, and addresses in lower case. */
  readonly receiver: { readonly id: string | undefined; readonly emails: readonly string[] }
  readonly orderReference: OrderReferenceOption
  readonly expects: readonly string[] | null
  /** Whether look-ups can be asked. */
  readonly asks: boolean
}

/** What one message says. */
export type Reading =
  | { readonly facts: readonly Fact[]; readonly lookups?: readonly LookupRequest[] }
  | { readonly ignored: string }

export type Envelope = Omit<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>

/** `web_accept/Completed`, `subscr_signup`, `Refunded`: the kind of transaction and its status, as far as told. */
export function typeOf(form: Form): string {
  const kind = form.text('txn_type') ?? form.text('case_type')
  const status = form.text('payment_status')
  return [kind, status].filter((part) => part !== undefined).join('/')
}

/** The field is there in the sandbox only. */
export function modeOf(form: Form): Mode {
  return form.text('test_ipn') === '1' ? 'test' : 'live'
}

/** @throws Unreadable when it is missing or no id */
export function requiredId(form: Form, name: string): string {
  const id = idOf(form.text(name))
  if (id === undefined) throw new Unreadable(`${name} is missing or no id`)
  return id
}

export function optionalId(form: Form, name: string): string | undefined {
  return idOf(form.text(name))
}

/** `mc_gross`: below zero for money that goes back. @throws Unreadable when it is missing, empty or not exact */
export function grossOf(form: Form): PaypalMoney {
  return readMoney(form.text('mc_gross'), form.text('mc_currency'), 'mc_gross', { negative: true })
}

/** The same without its sign. */
export function sizeOf({ amount_minor, currency }: PaypalMoney): PaypalMoney {
  return { amount_minor: amount_minor < 0n ? -amount_minor : amount_minor, currency }
}

export function referenceOf(setup: IpnSetup, form: Form): string | undefined {
  return orderReference(setup.orderReference, form.get('invoice'), form.get('custom'))
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `04:12:33 Mar 03, 2026 PST`, in the time of the US Pacific coast; undefined for any other shape. */
export function timeOf(form: Form, name: string): string | undefined {
  const match = /^(\d\d:\d\d:\d\d) ([A-Z][a-z]{2})\.? (\d{1,2}), (\d{4}) (PST|PDT)$/.exec(
    form.get(name) ?? '',
  )
  if (match === null) return undefined
  const [, clock, name_of_month = '', day = '', year, zone] = match
  const month = String(MONTHS.indexOf(name_of_month) + 1).padStart(2, '0')
  const offset = zone === 'PST' ? '-08:00' : '-07:00'
  const time = new Date(`${year}-${month}-${day.padStart(2, '0')}T${clock}${offset}`)
  // A day that the month does not have would be moved into the next one.
  const given = new Date(time.getTime() - (zone === 'PST' ? 8 : 7) * 3_600_000)
  return Number.isNaN(time.getTime()) || given.getUTCDate() !== Number(day) ? undefined : time.toISOString()
}

/** @throws Unreadable where a time is needed and not told in a form that we know */
export function requiredTime(form: Form, name: string): string {
  const time = timeOf(form, name)
  if (time === undefined) throw new Unreadable(`${name} is missing or of another form`)
  return time
}

/**
 * Whether the message is for our account: by PayPal's id of it where both sides have that, else by address.
 * @throws Unreadable when it names nobody
 */
export function isForUs({ receiver }: IpnSetup, form: Form): boolean {
  const id = form.text('receiver_id')
  if (receiver.id !== undefined && id !== undefined) return id === receiver.id
  const email = form.text('receiver_email')?.toLowerCase()
  if (receiver.emails.length > 0 && email !== undefined) return receiver.emails.includes(email)
  const business = form.text('business')
  if (business === undefined) throw new Unreadable('neither receiver_id, receiver_email nor business tells')
  return business === receiver.id || receiver.emails.includes(business.toLowerCase())
}
