import { endpointOptions } from '../../../options.ts'
import type { SampleMaker, SampleWish } from '../../../providers/sample-maker.ts'
import { forgeriesOf } from './costume.ts'
import { type Line, NOBODY, type Player, type Sale } from './player.ts'
import { plotsOf, type Script } from './plots.ts'

const DAY_S = 86_400

/** What a provider's sample maker can make, as a script. */
export function scriptOf(maker: SampleMaker): Script {
  const { steps } = maker
  const lines = (
    events: readonly string[],
    sale: Sale,
    about: Partial<Pick<SampleWish, 'amount_minor' | 'at_s' | 'live'>> = {},
  ): readonly Line[] => {
    const wish = {
      order: sale.reference,
      amount_minor: sale.amount_minor,
      currency: sale.currency,
      payment: maker.payment(sale.seed),
      paid_minor: sale.amount_minor,
      live: true,
      at_s: sale.at_s,
      ...about,
    }
    return events.map((event) => (secret, now_ms) => maker.make({ ...wish, event }, secret, now_ms))
  }
  const step = (events: readonly string[] | undefined, days = 0) =>
    events && ((sale: Sale) => lines(events, sale, { at_s: sale.at_s + days * DAY_S }))
  const { refunded } = steps
  return {
    paid: (sale) => lines(steps.paid, sale),
    declined: step(steps.failed),
    refunded: refunded && ((sale, amount_minor) => lines(refunded, sale, { amount_minor })),
    disputed: step(steps.dispute_opened),
    lost: step(steps.dispute_lost, 1),
    won: step(steps.dispute_won, 1),
  }
}

export type SignedPlayer = Omit<Player, 'enter'> & { readonly maker: SampleMaker }

/** A provider whose messages say everything, so that nobody has to be asked. */
export function signedPlayer({ maker, ...player }: SignedPlayer): Player {
  return {
    ...player,
    enter: async (secret) => {
      const forgeries = forgeriesOf(endpointOptions(player.provider(secret, NOBODY)).provider)
      return { plots: plotsOf(scriptOf(maker), forgeries), forgeries, standIn: null }
    },
  }
}
