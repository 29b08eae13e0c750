import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { historyArbitrary } from '../../test/history/arbitrary.ts'
import { openShop } from '../../test/stripe-shop.ts'
import { orderTerms } from '../facts/order.ts'
import { stripeEvents } from '../providers/stripe/sample.ts'
import { settleItem } from '../settle/item.ts'
import type { Database } from '../store/database.ts'
import { audit } from './audit.ts'
import { naturalKey } from './difference.ts'

/** One shop with a bit of everything: paid, refunded, disputed, subscribed, unknown, linked and conflicted. */
async function trade(database: Database): Promise<void> {
  const shop = openShop(database)
  await shop.order('A-1')
  await shop.order('A-2')
  await shop.order('A-3')
  const sale = (n: number) => ({ payment: `pi_${n}`, amount_minor: 2_000n, order: `A-${n}` })
  for (const body of [
    stripeEvents.chargeSucceeded(sale(1)),
    stripeEvents.paymentIntentSucceeded(sale(1)),
    stripeEvents.checkoutCompleted(sale(1)),
    stripeEvents.refundCreated({ ...sale(1), amount_minor: 2_000n }),
    stripeEvents.chargeSucceeded(sale(2)),
    stripeEvents.disputeCreated(sale(2)),
    stripeEvents.fundsWithdrawn(sale(2)),
    stripeEvents.chargeSucceeded(sale(3)),
    stripeEvents.chargeSucceeded({ ...sale(4), order: 'nobody-knows' }),
  ]) {
    expect(await shop.deliver(body)).toBe(200)
  }
}

withDatabases('the audit', (open) => {
  it('P44 finds nothing where nothing is wrong, and says what it compared', async () => {
    const database = await open()
    await trade(database)
    const report = await audit(database, { page: 2 })
    expect(report.differences).toEqual([])
    expect(report.checked).toMatchObject({ payments: 4, refunds: 1, disputes: 1, orders: 4, entitlements: 3 })
    expect(report.checked.facts).toBeGreaterThan(8)
    expect(report.money).toMatchObject([{ currency: 'USD', captured_minor: 8_000n, net_minor: 6_000n }])
  })

  const tampered: [string, string, object][] = [
    [
      'a right given by hand',
      `update entitlements set state = 'granted' where state = 'revoked'`,
      { table: 'entitlements', row: 'A-1 licence', column: 'state', stored: 'granted', derived: 'revoked' },
    ],
    [
      'a quantity raised by hand',
      `update entitlements set quantity = 9 where order_id = (select id from orders where reference = 'A-3')`,
      { table: 'entitlements', row: 'A-3 licence', column: 'quantity', stored: '9', derived: '1' },
    ],
    [
      'a right that was deleted',
      `delete from entitlements where order_id = (select id from orders where reference = 'A-3')`,
      { table: 'entitlements', row: 'A-3 licence', column: 'state', stored: 'none', derived: 'granted' },
    ],
    [
      'a right that the terms do not name',
      `insert into entitlements select order_id, revision, updated_at, quantity, bucket, 'granted', 'extra' from entitlements
        where order_id = (select id from orders where reference = 'A-3')`,
      { table: 'entitlements', row: 'A-3 extra', column: 'state', stored: 'granted', derived: 'revoked' },
    ],
    [
      'money added to a payment',
      `update payments set captured_minor = captured_minor + 1 where provider_payment_id = 'pi_3'`,
      {
        table: 'payments',
        row: 'stripe/default/pi_3',
        column: 'captured_minor',
        stored: '2001',
        derived: '2000',
      },
    ],
    [
      'a refund without its money',
      `update payments set refunded_minor = 0 where provider_payment_id = 'pi_1'`,
      {
        table: 'payments',
        row: 'stripe/default/pi_1',
        column: 'refunded_minor',
        stored: '0',
        derived: '2000',
      },
    ],
    [
      'a refund that was deleted',
      'delete from refunds',
      { table: 'refunds', row: 'stripe/default/re_1', column: 'row', stored: null, derived: 'present' },
    ],
    [
      'a refund made larger',
      'update refunds set amount_minor = 2500',
      {
        table: 'refunds',
        row: 'stripe/default/re_1',
        column: 'amount_minor',
        stored: '2500',
        derived: '2000',
      },
    ],
    [
      'a dispute closed by hand',
      `update disputes set status = 'won'`,
      { table: 'disputes', row: 'stripe/default/du_2/chargeback', column: 'status', stored: 'won' },
    ],
    [
      'an order marked as paid',
      `update orders set status = 'paid' where reference = 'A-1'`,
      { table: 'orders', row: 'A-1', column: 'status', stored: 'paid', derived: 'refunded' },
    ],
    [
      'a price changed after the sale',
      `update orders set book = jsonb_set(book, '{terms,amount_minor}', '"1"') where reference = 'A-3'`,
      { table: 'orders', row: 'A-3', column: 'book' },
    ],
    [
      'a payment torn from its order',
      `update orders set payment_ids = '{}' where reference = 'A-3'`,
      { table: 'orders', row: 'A-3', column: 'payment_ids', stored: null },
    ],
    [
      'a payment given to an order that it does not name',
      `update orders set payment_ids = (select array_agg(id) from payments) where reference = 'A-3'`,
      { table: 'orders', row: 'A-3', column: 'payment_ids' },
    ],
    [
      'a stand-in cut loose',
      `insert into payments (facts_rev, linked_to, created_at, updated_at, bucket, tenant, namespace, account,
         provider_payment_id, status)
       select 1, id, created_at, updated_at, 0, tenant, namespace, account, 'in_1', 'linked' from payments
         where provider_payment_id = 'pi_3'`,
      {
        table: 'payments',
        row: 'stripe/default/in_1',
        column: 'status',
        stored: 'linked',
        derived: 'unknown',
      },
    ],
    [
      'an exception closed by hand',
      `update exceptions set state = 'closed' where kind = 'unknown_order'`,
      { table: 'exceptions', row: 'order nobody-knows unknown_order -', stored: null, derived: 'open' },
    ],
    [
      'an exception that nothing calls for',
      `update exceptions set subject_key = 'A-3', subject_kind = 'order' where kind = 'unknown_order'`,
      { table: 'exceptions', row: 'order A-3 unknown_order -', stored: 'open', derived: null },
    ],
    [
      'a fact without its subject',
      `update facts set subject_id = 999999 where fact_key = 'refund/re_1/succeeded'`,
      { table: 'facts', column: 'subject_id', stored: '999999', derived: null },
    ],
    [
      'a witness without its event',
      `delete from events where type = 'refund.created'`,
      { table: 'witnesses', column: 'source_id', derived: null },
    ],
    [
      'testimony that was removed',
      `delete from witnesses w using events e where e.id = w.source_id and e.type = 'refund.created'`,
      {
        table: 'payments',
        row: 'stripe/default/pi_1',
        column: 'refunded_minor',
        stored: '2000',
        derived: '0',
      },
    ],
    [
      'an effect that was never announced',
      `delete from effects where subject_key = 'A-3'`,
      {
        table: 'effects',
        row: 'entitlement.changed A-3 licence',
        column: 'revision',
        stored: '0',
        derived: '1',
      },
    ],
    [
      'an effect ahead of its right',
      `update effects set revision = 7 where subject_key = 'A-3' and topic = 'entitlement.changed'`,
      {
        table: 'effects',
        row: 'entitlement.changed A-3 licence',
        column: 'revision',
        stored: '7',
        derived: '1',
      },
    ],
    [
      'an effect without its order',
      `update effects set subject_id = 999999 where subject_key = 'A-3'`,
      { table: 'effects', column: 'subject_id', stored: '999999' },
    ],
    [
      'an event that is kept and forgotten',
      `update events set state = 'kept' where type = 'refund.created'`,
      { table: 'events', column: 'state', stored: 'kept without a mark' },
    ],
  ]
  for (const [what, sql, difference] of tampered) {
    it(`P44 names ${what}`, async () => {
      const database = await open()
      await trade(database)
      await database.script(sql)
      const { differences } = await audit(database, { page: 3 })
      expect(differences).toContainEqual(expect.objectContaining(difference))
    })
  }

  it('counts every difference but lists only so many', async () => {
    const database = await open()
    await trade(database)
    await database.script(`update payments set captured_minor = captured_minor + 1`)
    const report = await audit(database, { listed_max: 2 })
    expect(report.differences).toHaveLength(2)
    expect(report.differences_total).toBe(4)
  })

  it('lists what is kept apart from differences', async () => {
    const database = await open()
    const shop = openShop(database, {
      options: {
        onEntitlement: () => {
          throw new Error('the shop is closed')
        },
      },
    })
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' }))
    const report = await audit(database)
    expect(report.differences).toEqual([])
    expect(report.marked).toMatchObject([{ last_error: 'the shop is closed', attempts: 0 }])
  })

  it('P44 finds nothing after any legal history, in any batches', async () => {
    const database = await open()
    let run = 0
    await fc.assert(
      fc.asyncProperty(historyArbitrary({ max_orders: 2 }), async (history) => {
        const { settler } = openShop(database).paidonce
        // A tenant of its own each time, so that every history meets fresh rows.
        run += 1
        const tenant = `t${run}`
        const source = { kind: 'merchant', id: 0n, version: 1 } as const
        for (const { reference, terms } of history.orders) {
          const facts = [orderTerms({ kind: 'order', reference }, terms)]
          await settler.settleOne(0, settleItem({ tenant, source, facts }))
        }
        for (const { facts } of history.messages) {
          await settler.settleOne(0, settleItem({ tenant, source, facts }))
        }
        expect((await audit(database)).differences).toEqual([])
      }),
      { numRuns: 12 },
    )
  })
})

it('names the tenant only where there are several', () => {
  expect(naturalKey('default', 'A-1')).toBe('A-1')
  expect(naturalKey('acme', 'stripe', 'pi_1')).toBe('acme/stripe/pi_1')
})
