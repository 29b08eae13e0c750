import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { Merchant, type MerchantOptions } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import type { OrderItem, OrderTerms } from '../facts/order.ts'
import { paymentMilestone } from '../facts/payment.ts'
import { type SubscriptionStatusReached, subscriptionStatus } from '../facts/subscription.ts'
import { markMended } from '../receive/catalogue.ts'
import type { Database } from '../store/database.ts'

const TERMS: OrderTerms = { amount_minor: 1000n, currency: 'USD', items: [], recurring: { by_price: true } }
const [PAST, FUTURE] = ['2025-04-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z']
type Priced = readonly [string, readonly OrderItem[]]
const BASIC: Priced = ['price_basic', [{ item: 'plan:basic', quantity: 1 }]]
const NEW: Priced = ['price_new', [{ item: 'plan:new', quantity: 1 }]]

function shop(database: Database, options: MerchantOptions = {}): Merchant {
  return new Merchant(database, { catalogue: new Map([BASIC]), ...options })
}

/** The same merchant after a new start with a catalogue that knows the new price. */
function mended(database: Database, { tenant }: Merchant, options: MerchantOptions = {}): Merchant {
  return new Merchant(database, { tenant, catalogue: new Map([BASIC, NEW]), ...options })
}

function told(
  merchant: Merchant,
  second: number,
  price: string,
  more: Partial<SubscriptionStatusReached> = {},
) {
  const subject = { kind: 'subscription', namespace: 'stripe', account: 'default', id: 'sub_1' } as const
  const at = `2025-03-01T10:00:0${second}.000Z`
  const content = { status: 'active', at, price, period_end: FUTURE, order: 'A' } as const
  return merchant.event(`evt_${second}`, [subscriptionStatus(subject, { ...content, ...more })])
}

function paid(merchant: Merchant, id: string) {
  const content = {
    milestone: 'succeeded',
    amount_minor: 1000n,
    currency: 'USD',
    subscription: 'sub_1',
  } as const
  const moved_at = '2025-03-01T10:00:00.000Z'
  return merchant.event(`evt_${id}`, [paymentMilestone(merchant.payment(id), { ...content, moved_at })])
}

const announced = (merchant: Merchant) =>
  merchant.count(`effects where tenant = $1 and topic = 'entitlement.changed'`)

withDatabases('a subscription at a price', (open) => {
  it('P26 P56 case-47 (a) of which nobody knows what it gives is recorded, told once, and runs once when that is mended', async () => {
    const database = await open()
    const before = shop(database)
    expect(
      await before.outcomes(before.order('A', TERMS), told(before, 1, 'price_new'), paid(before, 'pi_1')),
    ).toEqual(['settled', 'settled', 'settled'])
    expect(await before.rights()).toEqual([])
    expect(await before.exceptions()).toEqual(['unmapped_event price_new'])
    expect(await before.count(`payments where tenant = $1 and captured_minor = 1000`)).toBe(1)
    expect(await before.count(`effects where tenant = $1 and topic = 'exception.opened'`)).toBe(1)
    expect((await audit(database)).differences).toEqual([])

    const after = mended(database, before)
    const mend = () => markMended(database, 1, after.context.catalogue!, new Date())
    expect(await mend()).toBe(1)
    expect(await after.sweep()).toEqual(['settled'])
    expect(await after.rights()).toEqual(['A plan:new granted'])
    expect(await after.exceptions()).toEqual([])
    expect(await after.effects()).toEqual(['entitlement.changed plan:new 1 due', 'receipt.due - 0 due'])
    expect(await mend()).toBe(0)
    expect(await after.sweep()).toEqual([])
    expect(await announced(after)).toBe(1)
    expect((await audit(database)).differences).toEqual([])
  })

  it('P26 P56 case-47 (b) that nobody knows leaves the present plan, which the known one then replaces', async () => {
    const database = await open()
    const before = shop(database)
    await before.settle(before.order('A', TERMS), told(before, 1, 'price_basic'), paid(before, 'pi_1'))
    expect(await before.rights()).toEqual(['A plan:basic granted'])
    await before.settle(told(before, 2, 'price_new'), paid(before, 'pi_2'))
    expect(await before.rights()).toEqual(['A plan:basic granted'])
    expect(await before.exceptions()).toEqual(['unmapped_event price_new'])
    expect(await announced(before)).toBe(1)
    expect(await before.effects()).toContain('receipt.due - 0 due')
    expect((await audit(database)).differences).toEqual([])

    const after = mended(database, before)
    await markMended(database, 1, after.context.catalogue!, new Date())
    expect(await after.sweep()).toEqual(['settled'])
    expect(await after.rights()).toEqual(['A plan:basic revoked', 'A plan:new granted'])
    expect(await after.exceptions()).toEqual([])
    expect(await announced(after)).toBe(3)
    expect((await audit(database)).differences).toEqual([])
  })

  it('P26 P56 case-47 (c) that is sold no more ends all the same', async () => {
    const database = await open()
    const merchant = shop(database)
    await merchant.settle(
      merchant.order('A', TERMS),
      told(merchant, 1, 'price_basic'),
      paid(merchant, 'pi_1'),
    )
    const retired = { status: 'canceled', period_end: PAST } as const
    expect(await merchant.outcomes(told(merchant, 2, 'price_retired', retired))).toEqual(['settled'])
    expect(await merchant.exceptions()).toEqual([])
    expect(await merchant.rights()).toEqual(['A plan:basic expired'])
    expect((await audit(database)).differences).toEqual([])
  })

  it('P26 pauses and comes back at a price that nobody knows', async () => {
    const database = await open()
    const merchant = shop(database)
    await merchant.settle(merchant.order('A', TERMS), told(merchant, 1, 'price_basic'))
    await merchant.settle(told(merchant, 2, 'price_new', { status: 'paused' }))
    expect(await merchant.rights()).toEqual(['A plan:basic suspended'])
    await merchant.settle(told(merchant, 3, 'price_new'))
    expect(await merchant.rights()).toEqual(['A plan:basic granted'])
    expect((await audit(database)).differences).toEqual([])
  })

  it('P56 gives what its price gave when it first had it, whatever the catalogue says later', async () => {
    const database = await open()
    const before = shop(database)
    await before.settle(before.order('A', TERMS), told(before, 1, 'price_basic'))
    const after = new Merchant(database, {
      tenant: before.tenant,
      catalogue: new Map([['price_basic', [{ item: 'other', quantity: 1 }]]]),
    })
    await after.settle(told(after, 2, 'price_basic', { period_end: '2999-02-01T00:00:00.000Z' }))
    expect(await after.rights()).toEqual(['A plan:basic granted'])
    expect(await after.count(`facts where kind = 'price_items' and $1::text <> ''`)).toBe(1)
    expect((await audit(database)).differences).toEqual([])
  })

  it('P19 P56 ends the same in whatever order plan change, payment and order come', async () => {
    const database = await open()
    const orders = [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 2, 3, 0],
      [2, 0, 3, 1],
    ]
    for (const order of orders) {
      const merchant = mended(database, shop(database))
      const items = [
        merchant.order('A', TERMS),
        told(merchant, 1, 'price_basic'),
        told(merchant, 2, 'price_new'),
        paid(merchant, 'pi_1'),
      ]
      for (const place of order) expect(await merchant.outcomes(items[place]!)).toEqual(['settled'])
      const granted = (await merchant.rights()).filter((right) => right.endsWith(' granted'))
      expect(granted).toEqual(['A plan:new granted'])
      expect(await merchant.exceptions()).toEqual([])
    }
    expect((await audit(database)).differences).toEqual([])
  })

  it('P11 P56 is pinned once when the hook fails at first, and another event comes before it is tried again', async () => {
    const database = await open()
    let broken = true
    const merchant = shop(database, {
      onEntitlement: () => {
        if (broken) throw new Error('no table')
      },
    })
    await merchant.settle(merchant.order('A', TERMS))
    expect(await merchant.outcomes(told(merchant, 1, 'price_basic'))).toEqual(['kept'])
    broken = false
    expect(await merchant.outcomes(told(merchant, 2, 'price_basic', { status: 'trialing' }))).toEqual([
      'settled',
    ])
    expect(await merchant.sweep()).toEqual(['settled'])
    expect(await merchant.rights()).toEqual(['A plan:basic granted'])
    expect(await announced(merchant)).toBe(1)
    expect((await audit(database)).differences).toEqual([])
  })
})
