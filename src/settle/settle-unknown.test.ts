import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { Merchant } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import type { OrderTerms } from '../facts/order.ts'
import { paymentMilestone } from '../facts/payment.ts'
import { type SubscriptionStatus, subscriptionStatus } from '../facts/subscription.ts'

const TERMS: OrderTerms = {
  amount_minor: 1000n,
  currency: 'USD',
  items: [{ item: 'plan', quantity: 1 }],
  recurring: {},
}
const [PAST, FUTURE] = ['2025-04-01T00:00:00Z', '2999-01-01T00:00:00Z']

/** A subscription at a price, and the payment of its period. */
function subscribed(merchant: Merchant, id: string, price: string, status: SubscriptionStatus = 'active') {
  const subject = { kind: 'subscription', namespace: 'stripe', account: 'default', id } as const
  const canceled = status === 'canceled'
  return merchant.event(`evt_${id}_${status}`, [
    subscriptionStatus(subject, {
      status,
      at: canceled ? '2025-03-20T00:00:00Z' : '2025-03-01T00:00:00Z',
      period_end: canceled ? PAST : FUTURE,
      price,
      order: `order of ${id}`,
    }),
    paymentMilestone(merchant.payment(`pi_${id}`), {
      milestone: 'succeeded',
      amount_minor: 1000n,
      currency: 'USD',
      moved_at: '2025-03-01T00:00:00Z',
      subscription: id,
    }),
  ])
}

withDatabases('money for something that nobody sells here', (open) => {
  it('P26 case-47 is recorded, gives and takes nothing, and gives once what it is for as soon as that is known', async () => {
    const merchant = new Merchant(await open())
    await merchant.settle(merchant.order('order of old', TERMS))
    await merchant.settle(subscribed(merchant, 'old', 'price_old'))
    const present = ['order of old plan granted']
    expect(await merchant.rights()).toEqual(present)

    expect(await merchant.outcomes(subscribed(merchant, 'new', 'price_new'))).toEqual(['settled'])
    expect(await merchant.outcomes(subscribed(merchant, 'new', 'price_new'))).toEqual(['duplicate'])
    expect(await merchant.rights()).toEqual(present)
    expect(await merchant.count('payments where tenant = $1 and captured_minor = 1000')).toBe(2)
    expect(await merchant.exceptions()).toEqual(['unknown_order -'])
    expect(await merchant.count(`effects where tenant = $1 and topic = 'exception.opened'`)).toBe(1)

    await merchant.settle(merchant.order('order of new', TERMS))
    expect(await merchant.rights()).toEqual(['order of new plan granted', ...present])
    expect(await merchant.exceptions()).toEqual([])
    const announced = `effects where tenant = $1 and topic = 'entitlement.changed'`
    expect(await merchant.count(announced)).toBe(2)
    await merchant.settle(merchant.order('order of new', TERMS), subscribed(merchant, 'new', 'price_new'))
    expect(await merchant.count(announced)).toBe(2)
    expect((await audit(merchant.database)).differences).toEqual([])
  })

  it('P26 case-47 ends all the same when its price is one that is sold no more', async () => {
    const merchant = new Merchant(await open())
    await merchant.settle(merchant.order('order of old', TERMS))
    await merchant.settle(subscribed(merchant, 'old', 'price_old'))
    expect(await merchant.outcomes(subscribed(merchant, 'old', 'price_retired', 'canceled'))).toEqual([
      'settled',
    ])
    expect(await merchant.rights()).toEqual(['order of old plan expired'])
  })
})
