import { Fault } from '../facts/fault.ts'
import {
  type OrderClosed,
  type OrderItem,
  type OrderTerms,
  orderClosed,
  orderTerms,
  type Recurring,
} from '../facts/order.ts'
import { LARGEST_MINOR } from '../money/amount.ts'
import { exponentOf } from '../money/currency.ts'
import { cleanText, utcTime } from '../providers/field.ts'
import { type Policy, type PolicyOverrides, resolvePolicy } from '../rules/policy.ts'
import { settleItem } from '../settle/item.ts'
import type { SettleResult } from '../settle/settler.ts'
import type { Batcher } from './batcher.ts'
import { itemsProblem, pinnedItems } from './order-items.ts'

/** An order as a merchant registers it: what the buyer was asked for, and what they get for it. */
export interface OrderRegistration {
  /** The merchant's own order number, unique within the tenant. */
  readonly reference: string
  /** Exactly what the buyer is asked for, minor units of `currency`. */
  readonly amount_minor: bigint
  /** ISO 4217 code in upper case, or a token's code. */
  readonly currency: string
  /** Left out where they follow the price of the subscription (`recurring.by_price`), and only there. */
  readonly items?: readonly OrderItem[] | undefined
  /** Money that moves after this time does not fulfil the order by itself. ISO 8601 with a zone. */
  readonly expires_at?: string | undefined
  /** Only money of this provider account fulfils the order. */
  readonly account?: string | undefined
  /** The amount is asked for each period, and what the order gives lasts as long as its subscription at the provider. */
  readonly recurring?: Recurring | undefined
  /**
   * Your own id of who gets the items. What all orders of one holder give of an item is one right, which ends with the
   * last of them. An id, never a name or an address.
   */
  readonly holder?: string | undefined
  /** Policy options of this order alone, amounts in minor units of its currency; pinned with the terms. */
  readonly policy?: Partial<Policy> | undefined
  /** Default: the tenant of the installation. */
  readonly tenant?: string | undefined
}

/**
 * The merchant's side of orders. Everything goes through settling: registering an order that was paid already grants it
 * in the same transaction.
 */
export class Orders {
  readonly #batcher: Batcher
  readonly #tenant: string
  readonly #bucketOf: (tenant: string) => number

  constructor(batcher: Batcher, tenant: string, bucketOf: (tenant: string) => number) {
    this.#batcher = batcher
    this.#tenant = tenant
    this.#bucketOf = bucketOf
  }

  /**
   * Registers one order or many. Registering the same terms again changes nothing.
   * Throws Fault `order_invalid` (nothing of the call is written), `order_conflict` (known with other terms),
   * `database_unavailable`, `database_busy`, `queue_full`.
   */
  async register(orders: OrderRegistration | readonly OrderRegistration[]): Promise<void> {
    const list = Array.isArray(orders)
      ? (orders as readonly OrderRegistration[])
      : [orders as OrderRegistration]
    const checked = list.map((order) => ({ order, terms: checkedTerms(order) }))
    await this.#settle(
      checked.map(({ order, terms }) => ({
        tenant: checkedTenant(order.tenant ?? this.#tenant),
        fact: orderTerms({ kind: 'order', reference: order.reference }, terms),
      })),
    )
  }

  /**
   * Closes an order that is no longer to be paid. Money that moves later is kept and raised, not granted.
   * Throws Fault `order_invalid` for a reference or time that cannot be one.
   */
  async close(reference: string, closed: OrderClosed, tenant = this.#tenant): Promise<void> {
    const subject = { kind: 'order', reference: checkedReference(reference) } as const
    if (utcTime(closed.at) === null) {
      throw new Fault('order_invalid', `Order ${reference}: give \`at\` as an ISO 8601 time with a zone.`)
    }
    await this.#settle([{ tenant: checkedTenant(tenant), fact: orderClosed(subject, closed) }])
  }

  async #settle(
    told: readonly { tenant: string; fact: ReturnType<typeof orderTerms | typeof orderClosed> }[],
  ): Promise<void> {
    const results = await Promise.all(
      told.map(({ tenant, fact }) =>
        this.#batcher.submit(
          this.#bucketOf(tenant),
          settleItem({ tenant, source: { kind: 'merchant', id: 0n, version: 1 }, facts: [fact] }),
        ),
      ),
    )
    const failed = results.find(
      (result): result is Extract<SettleResult, { fault: Fault }> => 'fault' in result,
    )
    if (failed) throw failed.fault
  }
}

/** The terms that an order's registration pins. Throws Fault `order_invalid`. */
export function checkedTerms(order: Omit<OrderRegistration, 'tenant'>): OrderTerms {
  const reference = checkedReference(order.reference)
  const refuse = (what: string): never => {
    throw new Fault('order_invalid', `Order ${reference}: ${what}`)
  }
  const { amount_minor } = order
  if (typeof amount_minor !== 'bigint' || amount_minor < 0n || amount_minor > LARGEST_MINOR) {
    refuse('give `amount_minor` as a bigint of minor units, zero or more, at most 78 digits.')
  }
  if (!/^[A-Z0-9]{3,12}$/.test(order.currency)) refuse('give `currency` as an upper-case code such as EUR.')
  if (order.currency.length === 3 && exponentOf(order.currency) === null)
    refuse(`${order.currency} is no ISO 4217 currency.`)
  const { items = [] } = order
  const by_price = order.recurring?.by_price === true
  if (by_price && items.length > 0)
    refuse('its items follow the price, by `catalogue`: leave `items` out, or `recurring.by_price`.')
  const problem = by_price ? null : itemsProblem(items)
  if (problem !== null) refuse(problem)
  const expires_at = utcTime(order.expires_at) ?? undefined
  if (order.expires_at !== undefined && expires_at === undefined)
    refuse('`expires_at` is no ISO 8601 time with a zone.')
  if (order.account !== undefined && cleanText(order.account) === undefined)
    refuse('`account` is blank or has characters that no account has.')
  if (order.holder !== undefined && cleanText(order.holder) === undefined)
    refuse('`holder` is blank, over 255 characters, or has control characters.')
  const grace_ms = order.recurring?.grace_ms
  if (grace_ms !== undefined && (!Number.isSafeInteger(grace_ms) || grace_ms < 0))
    refuse('`recurring.grace_ms` is no whole number of milliseconds from 0 up.')
  const policy = given(order.policy)
  const resolved = policy ? resolvePolicy(policy) : undefined
  if (resolved && 'problem' in resolved) refuse(resolved.problem)
  return {
    amount_minor,
    currency: order.currency,
    items: pinnedItems(items),
    expires_at,
    account: order.account,
    recurring: order.recurring && {
      ...(grace_ms === undefined ? {} : { grace_ms }),
      ...(by_price ? { by_price } : {}),
    },
    holder: order.holder,
    policy,
  }
}

/** The options that say something; an undefined one, or null for no limit, is left out. */
function given(policy: Partial<Policy> | undefined): PolicyOverrides | undefined {
  const said = Object.entries(policy ?? {}).filter(([, value]) => value !== undefined && value !== null)
  return said.length === 0 ? undefined : (Object.fromEntries(said) as PolicyOverrides)
}

/** What providers could not carry would never be found again, so it is no reference either. */
function checkedReference(reference: string): string {
  const clean = cleanText(reference)
  if (clean !== undefined) return clean
  throw new Fault(
    'order_invalid',
    'An order needs a reference: your own order number, 1 to 255 characters, no control characters.',
  )
}

function checkedTenant(tenant: string): string {
  const clean = cleanText(tenant)
  if (clean !== undefined) return clean
  throw new Fault('order_invalid', 'A tenant is named by 1 to 255 characters, no control characters.')
}
