import { stripe } from '../../../providers/stripe/index.ts'
import { signStripe, stripeEvents } from '../../../providers/stripe/sample.ts'
import { forgeriesOf } from './costume.ts'
import type { Line, Player, Sale } from './player.ts'
import { plotsOf, type Script } from './plots.ts'
import { posted } from './told.ts'

type Sample = Parameters<typeof stripeEvents.chargeSucceeded>[0]

function sampleOf({ seed, reference, amount_minor, currency, at_s }: Sale): Sample {
  return { payment: `pi_${seed}`, amount_minor, currency, order: reference, live: true, at_s }
}

function lines(...bodies: readonly string[]): readonly Line[] {
  return bodies.map(
    (body) => (secret: string, now_ms: number) => posted(signStripe(body, secret, now_ms), body),
  )
}

/** Stripe tells one payment four times, each with other words. */
function paid(sample: Sample): readonly Line[] {
  return lines(
    stripeEvents.paymentIntentCreated(sample),
    stripeEvents.checkoutCompleted(sample),
    stripeEvents.paymentIntentSucceeded(sample),
    stripeEvents.chargeSucceeded(sample),
  )
}

function refunded(sample: Sample, charged_minor: bigint): readonly Line[] {
  return lines(
    stripeEvents.refundCreated({ ...sample, status: 'pending' }),
    stripeEvents.chargeRefunded({ ...sample, charged_minor }),
    stripeEvents.refundUpdated(sample),
  )
}

function later(sample: Sample): Sample {
  return { ...sample, at_s: sample.at_s! + 86_400 }
}

const script: Script = {
  paid: (sale) => paid(sampleOf(sale)),
  declined: (sale) => {
    const sample = { ...sampleOf(sale), charge: `ch_${sale.seed}_declined` }
    return lines(stripeEvents.chargeFailed(sample), stripeEvents.paymentFailed(sample))
  },
  refunded: (sale, part_minor) =>
    refunded({ ...sampleOf(sale), amount_minor: part_minor }, sale.amount_minor),
  disputed: (sale) =>
    lines(stripeEvents.disputeCreated(sampleOf(sale)), stripeEvents.fundsWithdrawn(sampleOf(sale))),
  lost: (sale) => lines(stripeEvents.disputeClosed(later(sampleOf(sale)))),
  won: (sale) =>
    lines(
      stripeEvents.disputeClosed({ ...later(sampleOf(sale)), status: 'won' }),
      stripeEvents.fundsReinstated(later(sampleOf(sale))),
    ),
  tested: (sale) => paid({ ...sampleOf(sale), live: false }),
}

export const player: Player = {
  name: 'stripe',
  currencies: ['USD', 'EUR', 'JPY', 'GBP'],
  secret: (seed) => `whsec_${seed}`,
  provider: (webhookSecrets) => stripe({ webhookSecrets }),
  enter: async (secret) => {
    const forgeries = forgeriesOf(stripe({ webhookSecrets: secret }))
    return { plots: plotsOf(script, forgeries), forgeries, standIn: null }
  },
}
