import { decimalText } from '../../../money/format.ts'
import { type FakeCircle, startFakeCircle } from '../../../providers/circle/fake.ts'
import { circleWallets } from '../../../providers/circle/index.ts'
import { sampleEndpoint, samples, signCircle } from '../../../providers/circle/sample.ts'
import { asLive, forgeriesOf } from './costume.ts'
import type { Player, Sale } from './player.ts'
import { plotsOf, type Script } from './plots.ts'
import { scriptOf } from './signed.ts'
import { Happenings, posted } from './told.ts'

const DECIMALS = 6

/** Deposits happen at the stand-in, which also gives out the key that messages are signed with. */
function scriptAt(fake: FakeCircle): Script {
  const happenings = new Happenings(
    () => fake.messages().map(({ body }) => body),
    (body) => posted(signCircle(body), body),
  )
  const pay = ({ seed, amount_minor, reference }: Sale) =>
    fake.deposit({
      id: samples.payment(seed),
      amount: decimalText(amount_minor, DECIMALS),
      order: reference,
    })
  const { declined, refunded, paid } = scriptOf(samples)
  return {
    paid: (sale) => happenings.happening(`pay ${sale.seed}`, 1, () => pay(sale)).lines,
    refunded,
    declined: declined && ((sale) => declined({ ...sale, seed: `${sale.seed}_failed` })),
    claimed: (sale) => paid(sale).at(-1)!,
  }
}

const open = (baseUrl: string) => {
  const { publicKeys: _fetched, ...options } = sampleEndpoint
  return asLive(circleWallets({ ...options, apiKey: 'key-of-the-demo', baseUrl }))
}

export const player: Player = {
  name: 'circle',
  currencies: ['USDC'],
  cent: 10_000n,
  needs: '@circle-fin/developer-controlled-wallets',
  secret: () => '',
  provider: (_secret, baseUrl) => open(baseUrl),
  enter: async () => {
    const standIn = await startFakeCircle()
    // The first that ask for the key get none, so that their messages have to be delivered again.
    standIn.faults.errors_before = 2
    const forgeries = forgeriesOf(open(standIn.url))
    return { plots: plotsOf(scriptAt(standIn), forgeries), forgeries, standIn }
  },
}
