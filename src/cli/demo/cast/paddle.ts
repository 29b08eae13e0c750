import { type FakePaddle, startFakePaddle } from '../../../providers/paddle/fake.ts'
import { paddle } from '../../../providers/paddle/index.ts'
import { samples, signPaddle } from '../../../providers/paddle/sample.ts'
import { forgeriesOf } from './costume.ts'
import type { Player, Sale } from './player.ts'
import { plotsOf, type Script } from './plots.ts'
import { scriptOf } from './signed.ts'
import { Happenings, posted } from './told.ts'

/** It happens at the stand-in: when a chargeback is won, the whole payment is asked about. */
function scriptAt(fake: FakePaddle): Script {
  const happenings = new Happenings(
    () => fake.events(),
    (body, secret, now_ms) => posted(signPaddle(body, secret, now_ms), body),
  )
  const chargebacks = new Map<string, string>()
  const pay = ({ seed, amount_minor, currency, reference }: Sale) =>
    happenings.happening(`pay ${seed}`, 3, () =>
      fake.pay(fake.open({ seed, amount_minor, currency, order: reference })),
    )
  const dispute = (sale: Sale) =>
    happenings.happening(
      `dispute ${sale.seed}`,
      1,
      () => chargebacks.set(sale.seed, fake.chargeBack(samples.payment(sale.seed))),
      pay(sale),
    )
  const win = (sale: Sale) =>
    happenings.happening(
      `win ${sale.seed}`,
      2,
      () => fake.winBack(chargebacks.get(sale.seed)!),
      dispute(sale),
    )
  const { refunded, paid } = scriptOf(samples)
  return {
    paid: (sale) => pay(sale).lines,
    refunded,
    disputed: (sale) => dispute(sale).lines,
    won: (sale) => win(sale).lines,
    claimed: (sale) => paid(sale).at(-1)!,
  }
}

const open = (webhookSecrets: string, baseUrl: string) =>
  paddle({ webhookSecrets, apiKey: 'pdl_live_apikey_of_the_demo', environment: 'live', baseUrl })

export const player: Player = {
  name: 'paddle',
  currencies: ['USD', 'EUR', 'GBP'],
  needs: '@paddle/paddle-node-sdk',
  secret: (seed) => `pdl_ntfset_${seed}`,
  provider: open,
  enter: async (secret) => {
    const standIn = await startFakePaddle()
    const forgeries = forgeriesOf(open(secret, standIn.url))
    return { plots: plotsOf(scriptAt(standIn), forgeries), forgeries, standIn }
  },
}
