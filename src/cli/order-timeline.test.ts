import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop } from '../../test/stripe-shop.ts'
import { stripeEvents } from '../providers/stripe/index.ts'
import { showOrder } from './order-story.ts'
import { orderTimeline } from './order-timeline.ts'

withDatabases('the story of an order', (open) => {
  it('says in time order what came, what was decided and why, what was granted and what left, with the fact behind each', async () => {
    const { paidonce: installed, order, deliver } = openShop(await open())
    await order('A-1')
    const sale = { payment: 'pi_1', amount_minor: 1_800n, order: 'A-1' }
    for (const _copy of [1, 2]) await deliver(stripeEvents.chargeSucceeded(sale))
    await installed.decisions.make({
      order: 'A-1',
      decision: 'accept_payment',
      payment: 'pi_1',
      actor: 'ann',
      reason: 'the voucher was ours',
    })
    await deliver(stripeEvents.refundCreated({ ...sale, refund: 're_1' }))
    const lines = orderTimeline(await showOrder(installed, 'A-1')).map(([, what, because]) => [
      what,
      because.split('\n'),
    ])
    const sent = (topic: string, state: string) => [topic, expect.stringMatching(`^sent out: ${state}`)]
    expect(lines).toEqual([
      ['registered: $20.00 for licence', ['terms', 'told by us']],
      [
        'payment pi_1 (attempt ch_1) succeeded: $18.00, for order A-1',
        ['attempt/ch_1/succeeded', expect.stringMatching(/^charge\.succeeded evt_.*, came 2 times$/)],
      ],
      [expect.stringMatching(/^a person is asked \(warning\): Order A-1 asks for/), ['underpayment -']],
      ['alert to a person', sent('exception.opened', 'withdrawn')],
      [
        'ann decided: accept payment pi_1 (the voucher was ours)',
        [expect.stringMatching(/^decision\//), 'a person'],
      ],
      ['no longer asked: underpayment -', ['the facts explain it now']],
      ['right licence is granted', sent('entitlement.changed', 'superseded')],
      [
        'refund re_1 of pi_1 succeeded: $18.00, requested_by_customer',
        ['refund/re_1/succeeded', expect.stringMatching(/^refund\.created /)],
      ],
      [expect.stringMatching(/^a person is asked/), [expect.stringMatching(/^decision_outdated /)]],
      ['right licence is revoked', sent('entitlement.changed', 'due')],
      ['alert to a person', sent('exception.opened', 'due')],
    ])
  })
})
