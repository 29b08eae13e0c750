import { startFakeEsewa } from '../../../providers/esewa/fake.ts'
import { esewa, esewaReturn } from '../../../providers/esewa/index.ts'
import { walletActor } from './away.ts'
import type { Player } from './player.ts'

const PRODUCT_CODE = 'DEMOSHOP'

export const player: Player = {
  name: 'esewa',
  currencies: ['NPR'],
  secret: (seed) => seed,
  provider: (secret, url) =>
    esewa({ productCode: PRODUCT_CODE, secret, mode: 'live', formBaseUrl: url, statusBaseUrl: url }),
  enter: async (secret) => {
    const standIn = await startFakeEsewa({ productCode: PRODUCT_CODE, secret })
    // What was paid shows a moment later.
    standIn.faults.lag_ms = 200
    return walletActor({
      standIn,
      follow: async ({ url, fields }) => {
        // The browser tries again when the page does not load.
        const post = () => fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
        await post().catch(post)
      },
      pay: (payment) => standIn.change(payment, 'COMPLETE'),
      giveUp: (payment) => standIn.change(payment, 'CANCELED'),
      returnOf: (payment) => standIn.returnOf(payment),
      claim: (payment, { amount_minor }) =>
        esewaReturn({ payment, amount_minor, productCode: PRODUCT_CODE }, 'a guess at the secret'),
    })
  },
}
