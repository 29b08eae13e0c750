import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { deriveAll } from '../../test/history/outcome.ts'
import { runs } from '../../test/history/runs.ts'
import { Merchant } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import type { Fact } from '../facts/fact.ts'
import { type OrderTerms, orderTerms } from '../facts/order.ts'
import { type PaymentMilestoneReached, paymentLink, paymentMilestone } from '../facts/payment.ts'
import { refundMilestone } from '../facts/refund.ts'
import {
  type SubscriptionStatus,
  type SubscriptionStatusReached,
  subscriptionStatus,
} from '../facts/subscription.ts'

const TERMS: OrderTerms = {
  amount_minor: 1000n,
  currency: 'USD',
  items: [{ item: 'pro', quantity: 1 }],
  recurring: {},
}
const [PAST, FUTURE] = ['2025-04-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z']

const payment = (id: string) => ({ kind: 'payment', namespace: 'stripe', account: 'default', id }) as const
const SUBSCRIPTION = { kind: 'subscription', namespace: 'stripe', account: 'default', id: 'sub_1' } as const

function paid(id: string, more: Partial<PaymentMilestoneReached> = {}): Fact {
  const content = {
    milestone: 'succeeded',
    amount_minor: 1000n,
    currency: 'USD',
    moved_at: '2025-03-01T00:00:00.000Z',
  } as const
  return paymentMilestone(payment(id), { ...content, ...more })
}

function status(
  second: number,
  status: SubscriptionStatus,
  more: Partial<SubscriptionStatusReached> = {},
): Fact {
  const at = `2025-03-01T10:00:${`${second}`.padStart(2, '0')}.000Z`
  return subscriptionStatus(SUBSCRIPTION, { status, at, period_end: FUTURE, ...more })
}

const renewal = (id: string, more: Partial<PaymentMilestoneReached> = {}) =>
  paid(id, { subscription: 'sub_1', ...more })
const refunded = (id: string) =>
  refundMilestone(payment(id), {
    refund: `re_${id}`,
    milestone: 'succeeded',
    amount_minor: 1000n,
    currency: 'USD',
  })

/** The order's row in a few words. */
async function order(merchant: Merchant, reference = 'A') {
  const [row] = await merchant.rows<{
    status: string
    payments: number
    subscriptions: number
    paid_minor: string
  }>(
    `select status, cardinality(payment_ids) as payments, cardinality(subscription_ids) as subscriptions, paid_minor
     from orders where tenant = $1 and reference = '${reference}'`,
    [merchant.tenant],
  )
  return row
}

withDatabases('a recurring order', (open) => {
  const PERMUTED: [string, Fact[], object, string][] = [
    [
      'P33 renewals that name only the subscription find the order through it',
      [status(1, 'active', { order: 'A' }), renewal('pi_1'), renewal('pi_2')],
      { status: 'paid', payments: 2, subscriptions: 1, paid_minor: '2000' },
      'granted',
    ],
    [
      'P33 a subscription that names no order finds it through its first payment, and the renewals with it',
      [status(1, 'active'), renewal('pi_1', { order: 'A' }), renewal('pi_2')],
      { payments: 2, subscriptions: 1, paid_minor: '2000' },
      'granted',
    ],
    [
      'P20 case-23 an older update does not revive it',
      [
        status(5, 'canceled', { order: 'A', period_end: PAST }),
        status(1, 'active', { order: 'A', period_end: PAST }),
      ],
      { payments: 0, subscriptions: 1 },
      'expired',
    ],
    [
      'P53 past due and active again',
      [status(1, 'active', { order: 'A' }), status(2, 'past_due', { period_end: PAST }), status(3, 'active')],
      { subscriptions: 1 },
      'granted',
    ],
    [
      'seq-19 told as incomplete later',
      [status(2, 'active', { order: 'A' }), status(1, 'incomplete')],
      {},
      'granted',
    ],
    [
      'an invoice stands in for its payment, which names nothing',
      [
        status(1, 'active', { order: 'A' }),
        paymentMilestone(payment('in_1'), { milestone: 'created', subscription: 'sub_1' }),
        paymentLink(payment('in_1'), 'pi_1'),
        paid('pi_1'),
      ],
      { payments: 1, paid_minor: '1000', status: 'paid' },
      'granted',
    ],
    [
      'the refund of the present period takes the right',
      [status(1, 'active', { order: 'A' }), renewal('pi_1'), refunded('pi_1')],
      { status: 'refunded' },
      'revoked',
    ],
  ]
  for (const [name, facts, row, state] of PERMUTED) {
    it(name, async () => {
      const database = await open()
      const told = [orderTerms({ kind: 'order', reference: 'A' }, TERMS), ...facts]
      for (const turn of told.keys()) {
        const merchant = new Merchant(database)
        const turned = [...told.slice(turn), ...told.slice(0, turn)]
        for (const [place, fact] of turned.entries()) {
          const item =
            fact.kind === 'order_terms' ? merchant.states(fact) : merchant.event(`evt_${place}`, [fact])
          expect(await merchant.outcomes(item)).toEqual(['settled'])
        }
        expect(await order(merchant)).toMatchObject(row)
        expect(await merchant.rights()).toEqual([`A pro ${state}`])
        expect(await merchant.exceptions()).toEqual([])
      }
      expect((await audit(database)).differences).toEqual([])
    })
  }

  it('moves on with its subscription and its renewals to another order when the plan changes', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    await merchant.settle(merchant.order('A', TERMS), merchant.order('B', TERMS))
    await merchant.settle(merchant.event('1', [status(1, 'active', { order: 'A' })]))
    await merchant.settle(merchant.event('2', [renewal('pi_1')]))
    await merchant.settle(merchant.event('3', [status(2, 'active', { order: 'B' })]))
    await merchant.settle(merchant.event('4', [renewal('pi_2')]))
    expect(await merchant.rights()).toEqual(['A pro none', 'B pro granted'])
    expect(await order(merchant)).toMatchObject({ payments: 0, subscriptions: 0 })
    expect(await order(merchant, 'B')).toMatchObject({ payments: 2, subscriptions: 1 })
    expect((await audit(database)).differences).toEqual([])
  })

  it('P11 is kept with its subscription when the hook fails, and settled later', async () => {
    const database = await open()
    let broken = true
    const merchant = new Merchant(database, {
      onEntitlement: () => {
        if (broken) throw new Error('no table')
      },
    })
    await merchant.settle(merchant.order('A', TERMS))
    const told = merchant.event('1', [status(1, 'active', { order: 'A' })])
    expect(await merchant.outcomes(told)).toEqual(['kept'])
    expect(await merchant.rights()).toEqual([])
    expect((await audit(database)).differences).toEqual([])
    broken = false
    expect(await merchant.sweep()).toEqual(['settled'])
    expect(await merchant.rights()).toEqual(['A pro granted'])
    expect((await audit(database)).differences).toEqual([])
  })

  it('names what is changed by hand', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    await merchant.settle(
      merchant.order('A', TERMS),
      merchant.event('1', [status(1, 'active', { order: 'A' })]),
    )
    await merchant.settle(merchant.event('2', [renewal('pi_1')]))
    const tenant = [merchant.tenant]
    await merchant.rows(
      `update orders set payment_ids = '{}', subscription_ids = '{}' where tenant = $1`,
      tenant,
    )
    await merchant.rows(`update subscriptions set since = null where tenant = $1`, tenant)
    const { differences } = await audit(database)
    expect(differences.map(({ table, column }) => `${table} ${column}`)).toEqual(
      expect.arrayContaining(['orders subscription_ids', 'subscriptions since']),
    )
  })
})

describe('made-up stories of one subscription', () => {
  const seconds = fc.integer({ min: 1, max: 9 })
  const order_named = fc.constantFrom(undefined, 'A', 'A', 'B')
  const fact = fc.oneof(
    fc
      .tuple(
        seconds,
        fc.constantFrom('active', 'past_due', 'unpaid', 'trialing', 'canceled' as const),
        order_named,
        fc.constantFrom(PAST, FUTURE),
      )
      .map(([second, told, order, period_end]) =>
        status(second, told as SubscriptionStatus, { order, period_end }),
      ),
    fc
      .tuple(
        fc.constantFrom('pi_1', 'pi_2', 'pi_3'),
        fc.constantFrom(undefined, 'sub_1'),
        fc.constantFrom(undefined, 'A', 'B'),
      )
      .map(([id, subscription, order]) => paid(id, { subscription, order })),
    fc.constantFrom('pi_1', 'pi_2').map(refunded),
    fc.constant(paymentLink(payment('in_1'), 'pi_1')),
    fc.constant(paymentMilestone(payment('in_1'), { milestone: 'created', subscription: 'sub_1' })),
  )
  const credits = { item: 'credits', quantity: 10, credits: true }
  const registered = [
    orderTerms(
      { kind: 'order', reference: 'A' },
      { ...TERMS, holder: 'u1', items: [...TERMS.items, credits] },
    ),
    orderTerms({ kind: 'order', reference: 'B' }, { ...TERMS, holder: 'u1', recurring: undefined }),
  ]
  const story = fc
    .array(fact, { minLength: 1, maxLength: 8 })
    .chain((facts) => {
      const all = [...registered, ...facts, ...facts.slice(0, 2)]
      return fc.tuple(fc.shuffledSubarray([...all.keys()], { minLength: all.length }), fc.constant(all))
    })
    .map(([places, all]) => places.map((place) => all[place]!))
  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 })

  withDatabases('settled', (open) => {
    it('P19 P33 P44 end as the rules say, in any order and batches, and the audit agrees', async () => {
      const database = await open()
      await fc.assert(
        fc.asyncProperty(story, sizes, async (facts, lengths) => {
          const merchant = new Merchant(database)
          const items = facts.map((fact, place) =>
            fact.kind === 'order_terms' ? merchant.states(fact) : merchant.event(`evt_${place}`, [fact]),
          )
          for (let start = 0, turn = 0; start < items.length; turn += 1) {
            const length = lengths[turn % lengths.length]!
            const outcomes = await merchant.outcomes(...items.slice(start, start + length))
            for (const outcome of outcomes) expect(outcome).toBe('settled')
            start += length
          }
          const derived = deriveAll(facts, new Date().toISOString())
          for (const reference of ['A', 'B']) {
            const { status, paid_minor, entitlements } = derived.orders.get(reference)!
            expect(await order(merchant, reference)).toMatchObject({ status, paid_minor: String(paid_minor) })
            // What contradicts itself stays as it was, which depends on when it came.
            if (entitlements.some(({ state }) => state === 'held')) return
          }
          const wanted = [...derived.orders].flatMap(([reference, { entitlements }]) =>
            entitlements
              .filter(({ state }) => state !== 'none')
              .map(({ item, state }) => `${reference} ${item} ${state}`),
          )
          const given = await merchant.rights()
          expect(given.filter((right) => !right.endsWith(' none'))).toEqual(wanted.sort())
        }),
        runs(25, 'database'),
      )
      expect((await audit(database)).differences).toEqual([])
    })
  })
})
