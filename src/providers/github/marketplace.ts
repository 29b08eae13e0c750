import type { FactOf } from '../../facts/fact.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import type { JsonRecord } from '../field.ts'
import { fieldIn, recordIn, textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { GitHubEvent, GitHubSetup, Reading } from './github-event.ts'
import { numberIn, orderOf, required, subscriptionSubject } from './github-event.ts'

/** What can be asked about: an account that should have a plan, and one that should have none any more. */
export const ACCOUNT = 'marketplace_account'
export const CANCELLATION = 'marketplace_cancellation'

const ANNOUNCEMENTS: ReadonlySet<string> = new Set(['pending_change', 'pending_change_cancelled'])

/**
 * `marketplace_purchase`: which account is on which plan from when. `changed` also brings the former plan back after an
 * upgrade could not be paid, so it says what holds now and never that more was paid.
 */
export function readMarketplace({ action, body, setup }: GitHubEvent): Reading {
  if (ANNOUNCEMENTS.has(action)) return { ignored: 'a change that is only announced, or is withdrawn' }
  if (action !== 'purchased' && action !== 'changed' && action !== 'cancelled')
    throw new Unreadable('action is not one of marketplace_purchase that we know')
  const purchase = required(recordIn(body, 'marketplace_purchase'), 'marketplace_purchase')
  const account = required(numberIn(purchase, 'account', 'id'), 'marketplace_purchase.account.id')
  const at = required(utcTime(textIn(body, 'effective_date')), 'effective_date')
  const ended = action === 'cancelled'
  return {
    facts: [ended ? planEnded(setup, account, purchase, at) : planHeld(setup, account, purchase, at)],
    lookups: setup.asksMarketplace ? [{ object: ended ? CANCELLATION : ACCOUNT, id: account }] : [],
  }
}

/** "Account 990001 is on plan 1313 from then on." The same for a webhook and for an answer of the REST API. */
export function planHeld(
  setup: GitHubSetup,
  account: string,
  purchase: JsonRecord,
  at: string,
): FactOf<'subscription_status'> {
  const product = required(numberIn(purchase, 'plan', 'id'), 'plan.id')
  const trial = fieldIn(purchase, 'on_free_trial') ?? false
  if (typeof trial !== 'boolean') throw new Unreadable('on_free_trial is neither true nor false')
  return subscriptionStatus(subscriptionSubject(setup, account), {
    status: trial ? 'trialing' : 'active',
    at,
    product,
    price: priceOf(product, purchase),
    order: orderOf(setup, { source: 'marketplace', id: account, payer: account, product }),
  })
}

/**
 * The account has no plan from then on. It is told as paused and not as canceled, which would be for ever: GitHub has no
 * id for the agreement, so that an account which buys again is the same subscription going on.
 */
export function planEnded(
  setup: GitHubSetup,
  account: string,
  purchase: JsonRecord | undefined,
  at: string,
): FactOf<'subscription_status'> {
  const product = numberIn(purchase, 'plan', 'id')
  return subscriptionStatus(subscriptionSubject(setup, account), {
    status: 'paused',
    at,
    cancel_at: at,
    product,
    order: orderOf(setup, { source: 'marketplace', id: account, payer: account, product }),
  })
}

/** GitHub has no id for a price: it follows from plan, billing cycle and, where units are sold, their number. */
function priceOf(plan: string, purchase: JsonRecord): string {
  const flat = /^(?:flat.rate|free)$/i.test(textIn(purchase, 'plan', 'price_model') ?? '')
  const units = flat ? undefined : numberIn(purchase, 'unit_count')
  return [plan, textIn(purchase, 'billing_cycle'), units].filter((part) => part !== undefined).join('/')
}
