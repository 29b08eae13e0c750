import { stripeEvents } from '../../providers/stripe/sample.ts'
import type { OrderRegistration } from '../../receive/orders.ts'
import { Dice } from './dice.ts'

/** How a delivery is spoilt before it is sent; `honest` ones are as Stripe sends them. */
export type Spoilt = 'honest' | 'wrong_secret' | 'changed_after_signing' | 'truncated' | 'too_old'

/** One thing that happens on the bad day. */
export type Step =
  | { readonly kind: 'register'; readonly order: OrderRegistration }
  | {
      readonly kind: 'deliver'
      readonly body: string
      readonly spoilt: Spoilt
      /** Sent so often at the same moment. */
      readonly copies: number
    }

export interface BadDay {
  readonly steps: readonly Step[]
  /** What was put into it, in words, with how often. */
  readonly trouble: Readonly<Record<string, number>>
}

type Trouble =
  | 'paid without trouble'
  | 'declined first, then paid'
  | 'refunded'
  | 'refunded in part'
  | 'refund told before its payment'
  | 'disputed and lost'
  | 'disputed and won'
  | 'dispute still open'
  | 'paid too little'
  | 'paid twice'
  | 'paid, but nobody knows the order'
  | 'registered after it was paid'
  | 'test event at the live endpoint'
  | 'never paid, but claimed by forgers'

/** Out of a hundred orders, roughly. The first ones come in any day, so that small demos show each kind. */
const SHARES: readonly (readonly [Trouble, number])[] = [
  ['paid without trouble', 48],
  ['declined first, then paid', 8],
  ['refunded', 6],
  ['refunded in part', 4],
  ['refund told before its payment', 3],
  ['disputed and lost', 3],
  ['disputed and won', 3],
  ['dispute still open', 2],
  ['paid too little', 3],
  ['paid twice', 4],
  ['paid, but nobody knows the order', 3],
  ['registered after it was paid', 5],
  ['test event at the live endpoint', 3],
  ['never paid, but claimed by forgers', 5],
]

const CURRENCIES = ['USD', 'EUR', 'JPY', 'GBP'] as const
const ITEMS = ['course:typescript', 'licence:pro', 'ticket:conference', 'book:webhooks'] as const

interface Delivery {
  readonly body: string
  readonly spoilt?: Spoilt
}

interface Story {
  readonly order: OrderRegistration
  readonly registered: 'before' | 'after' | 'never'
  readonly deliveries: readonly Delivery[]
}

/**
 * Makes the traffic of a bad day at a shop: the same for the same seed. Only the time at which each delivery is signed
 * is the real one.
 * @param run put into all ids, so that two days share none
 */
export function badDay(orders: number, seed: number, run: string): BadDay {
  const dice = new Dice(seed)
  const trouble: Record<string, number> = {}
  const timed: { at: number; step: Step }[] = []
  for (let number = 1; number <= orders; number += 1) {
    const kind = number <= SHARES.length ? SHARES[number - 1]![0] : drawn(dice)
    trouble[kind] = (trouble[kind] ?? 0) + 1
    const story = tell(dice, kind, number, run)
    const start = number * 10
    if (story.registered === 'before') timed.push({ at: start - 200, step: register(story) })
    for (const [place, delivery] of story.deliveries.entries()) {
      for (const at of arrivals(dice, start + place * 4)) {
        timed.push({ at, step: deliver(dice, delivery) })
      }
    }
    if (story.registered === 'after') timed.push({ at: start + 400, step: register(story) })
  }
  timed.sort((a, b) => a.at - b.at)
  return { steps: timed.map(({ step }) => step), trouble }
}

function drawn(dice: Dice): Trouble {
  let point = dice.next() * SHARES.reduce((sum, [, share]) => sum + share, 0)
  for (const [kind, share] of SHARES) {
    point -= share
    if (point < 0) return kind
  }
  return SHARES[0]![0]
}

/** A delivery comes late by chance, and now and then again: Stripe sends until it hears 2xx, and sometimes after. */
function arrivals(dice: Dice, due: number): number[] {
  const first = due + dice.next() * 60
  const again = dice.percent(25) ? [first + 20 + dice.next() * 300] : []
  return dice.percent(5) ? [first, ...again, first + 500] : [first, ...again]
}

function register({ order }: Story): Step {
  return { kind: 'register', order }
}

function deliver(dice: Dice, { body, spoilt = 'honest' }: Delivery): Step {
  const copies = spoilt === 'honest' && dice.percent(8) ? dice.whole(2, 4) : 1
  return { kind: 'deliver', body, spoilt, copies }
}

function tell(dice: Dice, kind: Trouble, number: number, run: string): Story {
  const currency = dice.pick(CURRENCIES)
  const amount_minor = BigInt(dice.whole(5, 200)) * 100n - 1n
  const reference = `D-${run}-${number}`
  const order: OrderRegistration = {
    reference,
    amount_minor,
    currency,
    items: [{ item: dice.pick(ITEMS), quantity: 1 }],
  }
  const payment = `pi_${run}_${number}`
  const sale = {
    payment,
    amount_minor,
    currency,
    order: reference,
    live: true,
    at_s: 1_760_000_000 + number * 60,
  }
  const story = (deliveries: readonly string[], registered: Story['registered'] = 'before'): Story => ({
    order,
    registered,
    deliveries: [...deliveries.map((body) => ({ body })), ...forgeries(dice, sale)],
  })
  const paid = payments(sale)
  switch (kind) {
    case 'paid without trouble':
      return story(paid)
    case 'declined first, then paid': {
      const declined = { ...sale, charge: `ch_${run}_${number}_declined` }
      return story([stripeEvents.chargeFailed(declined), stripeEvents.paymentFailed(declined), ...paid])
    }
    case 'refunded':
      return story([
        ...paid,
        stripeEvents.refundCreated({ ...sale, status: 'pending' }),
        stripeEvents.refundUpdated(sale),
        stripeEvents.chargeRefunded({ ...sale, charged_minor: amount_minor }),
      ])
    case 'refunded in part': {
      const part = { ...sale, amount_minor: amount_minor / 3n }
      return story([
        ...paid,
        stripeEvents.refundCreated(part),
        stripeEvents.chargeRefunded({ ...part, charged_minor: amount_minor }),
      ])
    }
    case 'refund told before its payment':
      return story([stripeEvents.refundCreated(sale), ...paid])
    case 'disputed and lost':
      return story([
        ...paid,
        stripeEvents.disputeCreated(sale),
        stripeEvents.fundsWithdrawn(sale),
        stripeEvents.disputeClosed(later(sale)),
      ])
    case 'disputed and won':
      return story([
        ...paid,
        stripeEvents.disputeCreated(sale),
        stripeEvents.fundsWithdrawn(sale),
        stripeEvents.disputeClosed({ ...later(sale), status: 'won' }),
        stripeEvents.fundsReinstated(later(sale)),
      ])
    case 'dispute still open':
      return story([...paid, stripeEvents.disputeCreated(sale), stripeEvents.fundsWithdrawn(sale)])
    case 'paid too little':
      return story(payments({ ...sale, amount_minor: amount_minor / 2n }))
    case 'paid twice':
      return story([...paid, ...payments({ ...sale, payment: `${payment}_again` })])
    case 'paid, but nobody knows the order':
      return story(paid, 'never')
    case 'registered after it was paid':
      return story(paid, 'after')
    case 'test event at the live endpoint':
      return story(payments({ ...sale, live: false }))
    case 'never paid, but claimed by forgers':
      return { order, registered: 'before', deliveries: claims(sale) }
  }
}

type Sale = Parameters<typeof stripeEvents.chargeSucceeded>[0]

function later(sale: Sale): Sale {
  return { ...sale, at_s: sale.at_s! + 86_400 }
}

/** Stripe tells one payment four times, each with other words. */
function payments(sale: Sale): string[] {
  return [
    stripeEvents.paymentIntentCreated(sale),
    stripeEvents.checkoutCompleted(sale),
    stripeEvents.paymentIntentSucceeded(sale),
    stripeEvents.chargeSucceeded(sale),
  ]
}

const FORGERIES: readonly [Spoilt, ...Spoilt[]] = [
  'wrong_secret',
  'changed_after_signing',
  'truncated',
  'too_old',
]

/** Now and then somebody tries to be believed about an order that is real. */
function forgeries(dice: Dice, sale: Sale): Delivery[] {
  if (!dice.percent(6)) return []
  const forged = { ...sale, payment: `${sale.payment}_forged` }
  return [{ body: stripeEvents.chargeSucceeded(forged), spoilt: dice.pick(FORGERIES) }]
}

function claims(sale: Sale): Delivery[] {
  return FORGERIES.map((spoilt) => ({ body: stripeEvents.chargeSucceeded(sale), spoilt }))
}
