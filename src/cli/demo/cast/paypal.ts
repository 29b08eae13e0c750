import { type FakePaypal, startFakePaypal } from '../../../providers/paypal/fake.ts'
import { paypal } from '../../../providers/paypal/index.ts'
import { samples, signPaypal, standInRoot } from '../../../providers/paypal/sample.ts'
import { asLive, forgeriesOf } from './costume.ts'
import type { Player, Sale } from './player.ts'
import { plotsOf, type Script } from './plots.ts'
import { scriptOf } from './signed.ts'
import { Happenings, posted } from './told.ts'

/** PayPal does not sign what a message says, so that each of them only makes the shop ask the stand-in. */
function scriptAt(fake: FakePaypal): Script {
  const happenings = new Happenings(
    () => fake.events(),
    (body, secret, now_ms) => posted(signPaypal(body, secret, now_ms), body),
  )
  let payments = 0
  const disputes = new Map<string, string>()
  const pay = ({ seed, amount_minor, currency, reference }: Sale) =>
    happenings.happening(`pay ${seed}`, 2, () => {
      fake.pay({ seed, amount_minor, currency, order: reference })
      payments += 1
      // The answer to a look-up, or to the request for the token, after which all that need it are asked again.
      if (payments === 6) fake.faults.lost_answers = 1
    })
  const refund = (sale: Sale, part_minor: bigint) =>
    happenings.happening(
      `refund ${sale.seed}`,
      1,
      () => fake.refund(samples.payment(sale.seed), part_minor),
      pay(sale),
    )
  const dispute = (sale: Sale) =>
    happenings.happening(
      `dispute ${sale.seed}`,
      1,
      () => disputes.set(sale.seed, fake.dispute(samples.payment(sale.seed), sale.amount_minor)),
      pay(sale),
    )
  const lose = (sale: Sale) =>
    happenings.happening(
      `lose ${sale.seed}`,
      1,
      () => fake.decide(disputes.get(sale.seed)!, 'RESOLVED_BUYER_FAVOUR'),
      dispute(sale),
    )
  const { paid } = scriptOf(samples)
  return {
    paid: (sale) => pay(sale).lines,
    refunded: (sale, part_minor) => refund(sale, part_minor).lines,
    disputed: (sale) => dispute(sale).lines,
    lost: (sale) => lose(sale).lines,
    claimed: (sale) => paid(sale).at(-1)!,
  }
}

const open = (webhookIds: string, baseUrl: string) =>
  asLive(
    paypal({
      webhookIds,
      environment: 'sandbox',
      clientId: 'client-of-the-demo',
      clientSecret: 'client-secret-of-the-demo',
      baseUrl,
      trustedRoots: [standInRoot],
    }),
  )

export const player: Player = {
  name: 'paypal',
  currencies: ['EUR', 'USD'],
  needs: '@paypal/paypal-server-sdk',
  secret: (seed) => seed.slice(0, 17).toUpperCase(),
  provider: open,
  enter: async (secret) => {
    const standIn = await startFakePaypal()
    // Whoever asks first for the key gets none, so that the message has to be delivered again.
    standIn.faults.errors_before = 1
    const forgeries = forgeriesOf(open(secret, standIn.url))
    return { plots: plotsOf(scriptAt(standIn), forgeries), forgeries, standIn }
  },
}
