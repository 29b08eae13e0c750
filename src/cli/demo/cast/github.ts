import { startFakeGitHub } from '../../../providers/github/fake.ts'
import { github } from '../../../providers/github/index.ts'
import { samples, signGitHub } from '../../../providers/github/sample.ts'
import { forgeriesOf } from './costume.ts'
import type { Delivery, Line, Player, Plot, Sale } from './player.ts'
import { Happenings, posted } from './told.ts'

const TEAM = { id: 1313, name: 'Team', monthly_price_in_cents: 4_900 }
const COMPANY = { id: 1314, name: 'Company', monthly_price_in_cents: 14_900 }
const EVENT = 'marketplace_purchase'

const open = (webhookSecrets: string, apiUrl: string) =>
  github({
    webhookSecrets,
    marketplace: { clientId: 'client-of-the-demo', clientSecret: 'client-secret-of-the-demo' },
    apiUrl,
  })

/** A feed of who is on which plan: it tells of no payment, so its stories have no order. */
export const player: Player = {
  name: 'github',
  currencies: ['USD'],
  orders: false,
  secret: (seed) => seed,
  provider: open,
  enter: async (secret) => {
    const standIn = await startFakeGitHub({ now_ms: Date.now, plans: [TEAM, COMPANY] })
    standIn.faults.lost_answers = 1
    const told: string[] = []
    const happenings = new Happenings(
      () => {
        told.push(...standIn.deliveries(secret).map(({ body }) => body))
        return told
      },
      (body, key) => posted(signGitHub(EVENT, body, key), body),
    )
    const account = ({ seed }: Sale) => Number(samples.payment(seed))
    const buy = (sale: Sale) =>
      happenings.happening(`buy ${sale.seed}`, 1, () =>
        standIn.purchase({ account: account(sale), plan: TEAM }),
      )
    const change = (sale: Sale) =>
      happenings.happening(
        `change ${sale.seed}`,
        1,
        () => standIn.change({ account: account(sale), plan: COMPANY }),
        buy(sale),
      )
    const honest = (lines: readonly Line[]): Delivery[] => lines.map((line) => ({ line, spoilt: 'honest' }))
    const forgeries = forgeriesOf(open(secret, standIn.url))
    const claim = (sale: Sale): Delivery[] => {
      const forged = { ...sale, seed: `${sale.seed}_forged` }
      const wish = { ...forged, payment: samples.payment(forged.seed), live: true }
      return forgeries.map((spoilt) => ({ spoilt, line: (key, now_ms) => samples.make(wish, key, now_ms) }))
    }
    const plots: readonly Plot[] = [
      {
        trouble: 'signed up for a plan',
        share: 60,
        tell: (sale, dice) => ({
          registered: 'never',
          paid: true,
          scenes: [...honest(buy(sale).lines), ...(dice.percent(20) ? claim(sale) : [])],
        }),
      },
      {
        trouble: 'signed up and changed the plan the same day',
        share: 40,
        tell: (sale) => ({
          registered: 'never',
          paid: true,
          scenes: honest([...buy(sale).lines, ...change(sale).lines]),
        }),
      },
    ]
    return { plots, forgeries, standIn }
  },
}
