import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop } from '../../test/stripe-shop.ts'
import { stripeEvents } from '../providers/stripe/index.ts'
import { checkInvariants } from './invariants.ts'

const LATER = () => new Date(Date.now() + 3_600_000)

withDatabases('what must always hold', (open) => {
  it('holds of what was settled, and each breach of it is found', async () => {
    const database = await open()
    const { order, deliver } = openShop(database)
    for (const reference of ['A-1', 'A-2', 'A-3']) await order(reference)
    for (const reference of ['A-1', 'A-2']) {
      const paid = { payment: `pi_${reference}`, amount_minor: 2_000n, order: reference }
      await deliver(stripeEvents.paymentIntentSucceeded(paid))
    }
    expect((await checkInvariants(database, 1, LATER())).broken).toEqual([])

    const spoil = (text: string) => database.query({ name: '', text })
    await spoil(`delete from entitlements where order_id = (select id from orders where reference = 'A-1')`)
    await spoil(`insert into entitlements (order_id, revision, updated_at, quantity, bucket, state, item)
      select id, 1, created_at, 1, bucket, 'granted', 'licence' from orders where reference = 'A-3'`)
    await spoil(`update entitlements set state = 'revoked'
      where order_id = (select id from orders where reference = 'A-2')`)
    await spoil(`update payments set refunded_minor = 9000 where provider_payment_id = 'pi_A-1'`)
    const { broken, counts } = await checkInvariants(database, 1, LATER())
    expect(broken.map(({ invariant, row }) => `${invariant} ${row}`).sort()).toEqual([
      'effect_unjustified A-2',
      'fulfilled_not_paid A-3',
      'money_conserved stripe/default/pi_A-1',
      'paid_not_fulfilled A-1',
      'paid_not_fulfilled A-2',
    ])
    expect(counts).toEqual({
      paid_not_fulfilled: 2,
      fulfilled_not_paid: 1,
      effect_unjustified: 1,
      money_conserved: 1,
    })
  })
})
