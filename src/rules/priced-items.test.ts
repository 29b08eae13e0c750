import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { book, ORDER, paid, terms } from '../../test/history/shorthand.ts'
import type { OrderItem } from '../facts/order.ts'
import { priceItems } from '../facts/price-items.ts'
import { deriveOrder } from './derive-order.ts'
import { deriveOrderBook } from './derive-order-book.ts'
import type { OrderBook, OrderState } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'
import { type EntitlementBefore, planEffects } from './plan-effects.ts'
import type { SubscriptionSummary } from './subscription-state.ts'

const AS_OF = '2025-05-10T00:00:00Z'
const line = (item: string, quantity = 1): OrderItem => ({ item, quantity })
const BASIC = { basic: [line('plan:basic'), line('seat', 2)] }
const PRO = { pro: [line('plan:pro'), line('seat', 5)] }
const PAID = paid('pi_1', { moved_at: '2025-05-01T00:00:00Z' })

function subscription(more: Partial<SubscriptionSummary> = {}): SubscriptionSummary {
  const known = { period_end: '2025-06-01T00:00:00Z', cancel_at: null, since: '2025-05-01T00:00:00Z' }
  const rest = { ended_from: null, price: 'basic', orders: ['A-17'] }
  return { id: 'sub_1', account: 'default', status: 'active', ...known, ...rest, ...more }
}

const ENDED = { status: 'canceled', period_end: '2025-05-02T00:00:00Z', ended_from: 'active' } as const

function derive(
  prices: OrderBook['prices'],
  subscriptions: readonly SubscriptionSummary[],
  payments: readonly PaymentSummary[] = [PAID],
): OrderState {
  const known = prices === undefined ? {} : { prices }
  const order = { ...book({ items: [], recurring: { by_price: true } }), ...known }
  return deriveOrder('A-17', order, payments, AS_OF, subscriptions)
}

const given = ({ entitlements, rest }: OrderState) => [
  ...entitlements.map(({ item, quantity, state }) => `${quantity} ${item} ${state}`),
  ...(rest === undefined ? [] : [`rest ${rest}`]),
]
const raised = ({ exceptions }: OrderState) =>
  exceptions.map(({ kind, cause, severity }) => `${kind} ${cause} ${severity}`)

describe('P56 an order that follows the price of its subscription', () => {
  type Row = [string, OrderBook['prices'], SubscriptionSummary[], string[], string[], PaymentSummary[]?]
  const unmapped = (price: string) => [`unmapped_event ${price} urgent`]
  const rows: Row[] = [
    ['gives its items', BASIC, [subscription()], ['1 plan:basic granted', '2 seat granted'], []],
    [
      'gives those of the price now and no others',
      { ...BASIC, ...PRO },
      [subscription({ price: 'pro' })],
      ['1 plan:pro granted', '5 seat granted'],
      [],
    ],
    [
      'P26 case-47 (a) gives nothing for a price that nobody knows',
      undefined,
      [subscription({ price: 'new' })],
      ['rest granted'],
      unmapped('new'),
    ],
    [
      'P26 case-47 (a) asks for it even after the end, while what was paid for was never given',
      undefined,
      [subscription({ price: 'new', ...ENDED })],
      ['rest expired'],
      unmapped('new'),
    ],
    [
      'P26 case-47 (b) leaves the plan that is',
      BASIC,
      [subscription({ price: 'new' })],
      ['rest granted'],
      unmapped('new'),
    ],
    [
      'P26 case-47 (c) ends without a price',
      BASIC,
      [subscription({ price: 'retired', ...ENDED })],
      ['rest expired'],
      [],
    ],
    [
      'P26 case-47 (c) is paused without a price',
      BASIC,
      [subscription({ price: 'retired', status: 'paused' })],
      ['rest suspended'],
      [],
    ],
    [
      'P23 is refunded without a price',
      BASIC,
      [subscription({ price: 'new' })],
      ['rest revoked'],
      [],
      [{ ...PAID, refunded_minor: 10000n }],
    ],
    [
      'stays where the subscription contradicts itself',
      BASIC,
      [subscription({ price: 'new', status: 'conflicted' })],
      ['rest held'],
      [],
    ],
    [
      'P33 case-25 an ended plan beside a living one says nothing',
      { ...BASIC, ...PRO },
      [subscription(ENDED), subscription({ id: 'sub_2', price: 'pro' })],
      ['1 plan:pro granted', '5 seat granted'],
      [],
    ],
    [
      'two living plans give both, and of one item the larger',
      { ...BASIC, ...PRO },
      [subscription(), subscription({ id: 'sub_2', price: 'pro' })],
      ['1 plan:basic granted', '1 plan:pro granted', '5 seat granted'],
      [],
    ],
    [
      'a living plan beside one that contradicts itself takes nothing of that',
      PRO,
      [subscription({ status: 'conflicted' }), subscription({ id: 'sub_2', price: 'pro' })],
      ['1 plan:pro granted', '5 seat granted', 'rest held'],
      [],
    ],
    [
      'asks when no price is told',
      undefined,
      [subscription({ price: null })],
      ['rest granted'],
      unmapped('-'),
    ],
    ['asks when no subscription is told', undefined, [], ['rest granted'], unmapped('-')],
    ['waits while nothing is paid or told', undefined, [], ['rest none'], [], []],
    [
      'takes no name of a built-in for a price',
      BASIC,
      [subscription({ price: 'constructor' })],
      ['rest granted'],
      unmapped('constructor'),
    ],
  ]
  for (const [name, prices, subscriptions, rights, exceptions, payments] of rows) {
    it(name, () => {
      const state = derive(prices, subscriptions, payments)
      expect(given(state)).toEqual(rights)
      expect(raised(state)).toEqual(exceptions)
    })
  }

  it('tells which price to add, and where', () => {
    const [due] = derive(undefined, [subscription({ price: 'price_new' })]).exceptions
    expect(due?.message).toContain('add price_new to `catalogue`')
    expect(due?.alert_after_ms).toBe(0)
  })

  it('P19 is the same in any order of facts, payments and subscriptions', () => {
    const prices = fc.constantFrom('basic', 'pro', 'new', null)
    const statuses = fc.constantFrom<SubscriptionSummary['status']>(
      'active',
      'paused',
      'canceled',
      'conflicted',
    )
    const subscriptions = fc
      .array(fc.record({ price: prices, status: statuses }), { maxLength: 3 })
      .map((list) => list.map((more, place) => subscription({ ...more, id: `sub_${place}` })))
    const payments = fc
      .array(fc.constantFrom(0n, 4000n, 10000n), { maxLength: 3 })
      .map((list) => list.map((refunded_minor, place) => ({ ...PAID, id: `pi_${place}`, refunded_minor })))
    const pinned = [
      priceItems(ORDER, { price: 'basic', items: BASIC.basic }),
      priceItems(ORDER, { price: 'pro', items: PRO.pro }),
    ]
    const facts = fc
      .subarray(pinned)
      .map((some) => [terms(10000n, { items: [], recurring: { by_price: true } }), ...some])
    const shuffled = <T>(list: readonly T[]) => fc.shuffledSubarray([...list], { minLength: list.length })
    const story = fc
      .tuple(facts, payments, subscriptions)
      .chain(([told, paying, settling]) =>
        fc.tuple(
          fc.constant([told, paying, settling] as const),
          shuffled([...told, ...told]),
          shuffled(paying),
          shuffled(settling),
        ),
      )
    fc.assert(
      fc.property(story, ([[told, paying, settling], told2, paying2, settling2]) => {
        const state = deriveOrder('A-17', deriveOrderBook(told), paying, AS_OF, settling)
        expect(deriveOrder('A-17', deriveOrderBook(told2), paying2, AS_OF, settling2)).toEqual(state)
        // Nothing is granted that no known price of a subscription gives.
        const known = settling.flatMap(({ price }) =>
          price === null ? [] : (deriveOrderBook(told).prices?.[price] ?? []),
        )
        const named = new Set(known.map(({ item }) => item))
        expect(state.entitlements.filter(({ item }) => !named.has(item))).toEqual([])
      }),
    )
  })
})

describe('rights that no entitlement names while a price is unknown', () => {
  const row = (item: string, state: EntitlementBefore['state']) => ({ item, quantity: 1, state, revision: 2 })
  const before = [
    row('given', 'granted'),
    row('paused', 'suspended'),
    row('gone', 'revoked'),
    row('over', 'expired'),
  ]
  const none = derive(undefined, [], [])
  type Rest = NonNullable<OrderState['rest']>
  const rows: [Rest, string[]][] = [
    ['granted', ['paused granted']],
    ['held', []],
    ['suspended', ['given suspended']],
    ['expired', ['given expired', 'paused expired']],
  ]
  it.each(rows)('P26 %s: what stands follows, and what is over does not come back', (rest, changes) => {
    const { entitlements } = planEffects({ reference: 'A-17', before }, { ...none, rest })
    expect(entitlements.map(({ item, state }) => `${item} ${state}`)).toEqual(changes)
  })

  it('P26 a receipt that nobody sent yet stays due', () => {
    const sent = [{ topic: 'receipt.due', cause: 'order', state: 'due', attempts: 0, payload: {} }] as const
    const withdrawn = (rest: Rest) =>
      planEffects({ reference: 'A-17', before, sent }, { ...none, rest }).withdrawn.map(({ topic }) => topic)
    expect(withdrawn('granted')).toEqual([])
    expect(withdrawn('expired')).toEqual(['receipt.due'])
  })
})

it('P56 a book without prices is stored as it always was', () => {
  expect(deriveOrderBook([terms(10000n)])).not.toHaveProperty('prices')
})
