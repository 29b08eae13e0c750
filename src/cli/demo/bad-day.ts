import type { OrderRegistration } from '../../receive/orders.ts'
import type { Delivery, Journey, Player, Plot, Sale, Story } from './cast/player.ts'
import { Dice } from './dice.ts'

/** One thing that happens on the bad day. */
export type Step =
  | { readonly kind: 'register'; readonly order: OrderRegistration }
  | {
      readonly kind: 'deliver'
      /** Name of the endpoint. */
      readonly player: string
      readonly delivery: Delivery
      /** Sent so often at the same moment. */
      readonly copies: number
    }
  | { readonly kind: 'travel'; readonly player: string; readonly journey: Journey }

/** Somebody who can tell stories. */
export interface Teller {
  readonly player: Pick<Player, 'name' | 'currencies' | 'cent' | 'orders'>
  readonly plots: readonly Plot[]
}

export interface BadDay {
  readonly steps: readonly Step[]
  /** What was put into it, in words, with how often. */
  readonly trouble: Readonly<Record<string, number>>
  /** References of each player's orders. */
  readonly orders: ReadonlyMap<string, readonly string[]>
  /** References of orders that nobody ever paid, whatever was claimed. */
  readonly unpaid: readonly string[]
}

const ITEMS = ['course:typescript', 'licence:pro', 'ticket:conference', 'book:webhooks'] as const
/** Out of a hundred stories, so many are the leading player's. */
const LEADING = 55

/**
 * Makes the traffic of a bad day at a shop: the same for the same seed. Only the time at which each delivery is signed
 * is the real one. The first stories are all that the leading player has, then one of each other player, so that small
 * demos show each kind; what follows is drawn.
 * @param run put into all ids, so that two days share none
 */
export function badDay(orders: number, seed: number, run: string, tellers: readonly Teller[]): BadDay {
  const dice = new Dice(seed)
  const [leading, ...others] = tellers
  if (leading === undefined) throw new Error('Nobody tells anything.')
  const overture = [
    ...leading.plots.map((plot) => [leading, plot] as const),
    ...others.map((teller) => [teller, teller.plots[0]!] as const),
  ]
  const trouble: Record<string, number> = {}
  const told = new Map<string, string[]>(tellers.map(({ player }) => [player.name, []]))
  const unpaid: string[] = []
  const timed: { at: number; step: Step }[] = []
  for (let number = 1, ordered = 0; ordered < orders; number += 1) {
    const [teller, plot] = overture[number - 1] ?? drawn(dice, leading, others)
    trouble[plot.trouble] = (trouble[plot.trouble] ?? 0) + 1
    const sale = saleOf(dice, teller, number, run)
    const order = teller.player.orders === false ? null : orderOf(dice, sale)
    if (order !== null) {
      ordered += 1
      told.get(teller.player.name)!.push(order.reference)
    }
    const story = { ...plot.tell(sale, dice), order }
    if (!story.paid) unpaid.push(sale.reference)
    timed.push(...stepsOf(dice, teller.player.name, story, number * 10))
  }
  timed.sort((a, b) => a.at - b.at)
  return { steps: timed.map(({ step }) => step), trouble, orders: told, unpaid }
}

function drawn(dice: Dice, leading: Teller, others: readonly Teller[]): readonly [Teller, Plot] {
  const [first, ...more] = others
  const teller = first === undefined || dice.percent(LEADING) ? leading : dice.pick([first, ...more])
  return [teller, drawnPlot(dice, teller.plots)]
}

function drawnPlot(dice: Dice, plots: readonly Plot[]): Plot {
  let point = dice.next() * plots.reduce((sum, { share }) => sum + share, 0)
  for (const plot of plots) {
    point -= plot.share
    if (point < 0) return plot
  }
  return plots[0]!
}

function saleOf(dice: Dice, { player }: Teller, number: number, run: string): Sale {
  return {
    seed: `${run}_${number}`,
    reference: `D-${run}-${number}`,
    amount_minor: (BigInt(dice.whole(15, 200)) * 100n - 1n) * (player.cent ?? 1n),
    currency: dice.pick(player.currencies),
    at_s: 1_760_000_000 + number * 60,
  }
}

function orderOf(dice: Dice, { reference, amount_minor, currency }: Sale): OrderRegistration {
  return { reference, amount_minor, currency, items: [{ item: dice.pick(ITEMS), quantity: 1 }] }
}

function stepsOf(dice: Dice, player: string, story: Story, start: number): { at: number; step: Step }[] {
  const timed: { at: number; step: Step }[] = []
  const { order, registered, scenes } = story
  if (order !== null && registered !== 'never') {
    const at = registered === 'before' ? start - 200 : start + 400
    timed.push({ at, step: { kind: 'register', order } })
  }
  for (const [place, scene] of scenes.entries()) {
    const due = start + place * 4
    if (typeof scene === 'function') timed.push({ at: due, step: { kind: 'travel', player, journey: scene } })
    else for (const at of arrivals(dice, due)) timed.push({ at, step: deliver(dice, player, scene) })
  }
  return timed
}

/** A delivery comes late by chance, and now and then again: providers send until they hear 2xx, and sometimes after. */
function arrivals(dice: Dice, due: number): number[] {
  const first = due + dice.next() * 60
  const again = dice.percent(25) ? [first + 20 + dice.next() * 300] : []
  return dice.percent(5) ? [first, ...again, first + 500] : [first, ...again]
}

function deliver(dice: Dice, player: string, delivery: Delivery): Step {
  const copies = delivery.spoilt === 'honest' && dice.percent(8) ? dice.whole(2, 4) : 1
  return { kind: 'deliver', player, delivery, copies }
}
