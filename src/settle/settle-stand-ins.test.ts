import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { Merchant } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import { paymentLink, paymentMilestone } from '../facts/payment.ts'
import { refundMilestone } from '../facts/refund.ts'

const TERMS = { amount_minor: 2_000n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }
const READ = {
  name: 'test-refunds',
  text: `select r.provider_refund_id, p.provider_payment_id, r.status
    from refunds r join payments p on p.id = r.payment_id order by 1`,
}

withDatabases('stand-ins', (open) => {
  const told = (merchant: Merchant) => ({
    paid: merchant.event('evt_paid', [
      paymentMilestone(merchant.payment('pi_1'), {
        milestone: 'succeeded',
        attempt: 'ch_1',
        amount_minor: 2_000n,
        currency: 'USD',
      }),
    ]),
    invoice: merchant.event('evt_invoice', [
      paymentMilestone(merchant.payment('in_1'), { milestone: 'created', order: 'A-1' }),
      refundMilestone(merchant.payment('in_1'), {
        refund: 're_1',
        milestone: 'succeeded',
        amount_minor: 500n,
        currency: 'USD',
      }),
    ]),
    link: merchant.event('evt_link', [paymentLink(merchant.payment('in_1'), 'pi_1')]),
  })
  const orders = [
    ['paid', 'invoice', 'link'],
    ['link', 'invoice', 'paid'],
    ['invoice', 'paid', 'link'],
    ['invoice', 'link', 'paid'],
  ] as const

  it.each(orders)(
    'P52 give their refunds to the payment that they belong to: %s, %s, %s',
    async (...names) => {
      const database = await open()
      const merchant = new Merchant(database)
      const events = told(merchant)
      await merchant.settle(merchant.order('A-1', TERMS))
      for (const name of names) expect(await merchant.outcomes(events[name])).toEqual(['settled'])
      expect(await database.query(READ)).toEqual([
        { provider_refund_id: 're_1', provider_payment_id: 'pi_1', status: 'succeeded' },
      ])
      expect((await audit(database)).differences).toEqual([])
    },
  )

  it('P52 are settled in one batch with their payment', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    const { paid, invoice, link } = told(merchant)
    const outcomes = await merchant.outcomes(merchant.order('A-1', TERMS), link, invoice, paid)
    expect(outcomes).toEqual(['settled', 'settled', 'settled', 'settled'])
    expect(await database.query(READ)).toHaveLength(1)
    expect((await audit(database)).differences).toEqual([])
  })
})
