import type { Dice } from '../dice.ts'
import type { Delivery, Forgery, Line, Plot, Sale } from './player.ts'

/** What a provider tells of a payment's life, step by step. What it has no messages for is left out. */
export interface Script {
  /** One payment, maybe told several times with other words. */
  readonly paid: (sale: Sale) => readonly Line[]
  readonly declined?: ((sale: Sale) => readonly Line[]) | undefined
  /** All of it, or `part_minor` of it, is given back. */
  readonly refunded?: ((sale: Sale, part_minor: bigint) => readonly Line[]) | undefined
  readonly disputed?: ((sale: Sale) => readonly Line[]) | undefined
  readonly lost?: ((sale: Sale) => readonly Line[]) | undefined
  readonly won?: ((sale: Sale) => readonly Line[]) | undefined
  /** A message about a payment that was never made. Default: the last one of `paid`. */
  readonly claimed?: ((sale: Sale) => Line) | undefined
  /** The same payment as a test of the provider's. */
  readonly tested?: ((sale: Sale) => readonly Line[]) | undefined
  /** Not every provider's payment can be sent with another amount than was asked for. Default true. */
  readonly anyAmount?: boolean | undefined
}

type Told = readonly Line[] | undefined
type Tell = (script: Script, sale: Sale) => Told

/** Out of a hundred stories, roughly; what a script cannot tell is left to the others. */
const TOLD: readonly (readonly [trouble: string, share: number, Tell, 'before' | 'after' | 'never'])[] = [
  ['paid without trouble', 48, (script, sale) => script.paid(sale), 'before'],
  [
    'declined first, then paid',
    8,
    (script, sale) => all(script.declined?.(sale), script.paid(sale)),
    'before',
  ],
  [
    'refunded',
    6,
    (script, sale) => all(script.paid(sale), script.refunded?.(sale, sale.amount_minor)),
    'before',
  ],
  [
    'refunded in part',
    4,
    (script, sale) => all(script.paid(sale), script.refunded?.(sale, sale.amount_minor / 3n)),
    'before',
  ],
  [
    'refund told before its payment',
    3,
    (script, sale) => all(script.refunded?.(sale, sale.amount_minor)?.slice(-1), script.paid(sale)),
    'before',
  ],
  [
    'disputed and lost',
    3,
    (script, sale) => all(script.paid(sale), script.disputed?.(sale), script.lost?.(sale)),
    'before',
  ],
  [
    'disputed and won',
    3,
    (script, sale) => all(script.paid(sale), script.disputed?.(sale), script.won?.(sale)),
    'before',
  ],
  ['dispute still open', 2, (script, sale) => all(script.paid(sale), script.disputed?.(sale)), 'before'],
  ['paid too little', 3, paidTooLittle, 'before'],
  ['paid twice', 4, (script, sale) => all(script.paid(sale), script.paid(again(sale))), 'before'],
  ['paid, but nobody knows the order', 3, (script, sale) => script.paid(sale), 'never'],
  ['registered after it was paid', 5, (script, sale) => script.paid(sale), 'after'],
  ['test event at the live endpoint', 3, (script, sale) => script.tested?.(sale), 'before'],
]

/** Lines one after the other; undefined when the script lacks one of them. */
function all(...parts: readonly Told[]): Told {
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined
}

function paidTooLittle(script: Script, sale: Sale): Told {
  if (script.anyAmount === false) return undefined
  return script.paid({ ...sale, amount_minor: sale.amount_minor / 2n })
}

function again(sale: Sale): Sale {
  return { ...sale, seed: `${sale.seed}_again` }
}

const UNPAID = ['test event at the live endpoint']
/** Somebody who knows an order's number claims that it was paid. */
export const CLAIMED = 'never paid, but claimed by forgers'

/**
 * The stories that a script can tell. A script names its lines by what it can make, so that whether it has a plot is
 * known before the day begins.
 */
export function plotsOf(script: Script, forgeries: readonly Forgery[]): readonly Plot[] {
  const told = TOLD.filter(([, , tell]) => tell(script, ANY_SALE) !== undefined).map(
    ([trouble, share, tell, registered]): Plot => ({
      trouble,
      share,
      tell: (sale, dice) => ({
        registered,
        scenes: [...honest(tell(script, sale) ?? []), ...rumour(script, sale, forgeries, dice)],
        paid: !UNPAID.includes(trouble),
      }),
    }),
  )
  return [
    ...told,
    {
      trouble: CLAIMED,
      share: 5,
      tell: (sale) => ({ registered: 'before', scenes: claims(script, sale, forgeries), paid: false }),
    },
  ]
}

const ANY_SALE: Sale = { seed: 'any', reference: 'any', amount_minor: 300n, currency: 'USD', at_s: 0 }

function honest(lines: readonly Line[]): Delivery[] {
  return lines.map((line) => ({ line, spoilt: 'honest' }))
}

/** Now and then somebody tries to be believed about an order that is real. */
function rumour(script: Script, sale: Sale, forgeries: readonly Forgery[], dice: Dice): Delivery[] {
  const [first, ...more] = forgeries
  if (!dice.percent(6) || first === undefined) return []
  return [{ line: forged(script, sale), spoilt: dice.pick([first, ...more]) }]
}

function claims(script: Script, sale: Sale, forgeries: readonly Forgery[]): Delivery[] {
  return forgeries.map((spoilt) => ({ line: forged(script, sale), spoilt }))
}

function forged(script: Script, sale: Sale): Line {
  const claim = script.claimed ?? ((about: Sale) => script.paid(about).at(-1)!)
  return claim({ ...sale, seed: `${sale.seed}_forged` })
}
