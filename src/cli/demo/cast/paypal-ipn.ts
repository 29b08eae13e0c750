import { type FakeIpn, startFakeIpn } from '../../../providers/paypal-ipn/fake.ts'
import { paypalIpn } from '../../../providers/paypal-ipn/index.ts'
import { SAMPLE_RECEIVER, samples } from '../../../providers/paypal-ipn/sample.ts'
import { asLive } from './costume.ts'
import type { Line, Player } from './player.ts'
import { plotsOf, type Script } from './plots.ts'
import { scriptOf } from './signed.ts'

const script = scriptOf(samples)

/** The stand-in confirms what it has sent, and nothing else. */
function scriptAt(fake: FakeIpn): Script {
  const sent = (lines: readonly Line[]) =>
    lines.map((line) => (secret: string, now_ms: number) => {
      const message = line(secret, now_ms)
      fake.send(message.body)
      return message
    })
  const { paid, declined, refunded, disputed, lost, won } = script
  return {
    paid: (sale) => sent(paid(sale)),
    declined: declined && ((sale) => sent(declined(sale))),
    refunded: refunded && ((sale, part_minor) => sent(refunded(sale, part_minor))),
    disputed: disputed && ((sale) => sent(disputed(sale))),
    lost: lost && ((sale) => sent(lost(sale))),
    won: won && ((sale) => sent(won(sale))),
    claimed: (sale) => paid(sale).at(-1)!,
  }
}

export const player: Player = {
  name: 'paypal-ipn',
  currencies: ['EUR', 'USD'],
  believedLater: true,
  secret: () => '',
  provider: (_secret, baseUrl) =>
    asLive(paypalIpn({ environment: 'sandbox', receiverId: SAMPLE_RECEIVER, account: 'ipn', baseUrl })),
  enter: async () => {
    const standIn = await startFakeIpn()
    Object.assign(standIn.faults, { errors_before: 1, lost_answers: 1 })
    return { plots: plotsOf(scriptAt(standIn), FORGERIES), forgeries: FORGERIES, standIn }
  },
}

/** Nothing is signed, so all that can be forged is the message itself. */
const FORGERIES = ['changed_after_signing'] as const
