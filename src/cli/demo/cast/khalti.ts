import { startFakeKhalti } from '../../../providers/khalti/fake.ts'
import { khalti, khaltiReturn } from '../../../providers/khalti/index.ts'
import { walletActor } from './away.ts'
import type { Player } from './player.ts'

export const player: Player = {
  name: 'khalti',
  currencies: ['NPR'],
  secret: (seed) => seed,
  provider: (secretKey, baseUrl) =>
    khalti({ secretKey, mode: 'live', websiteUrl: 'https://shop.example', baseUrl }),
  enter: async (secretKey) => {
    const standIn = await startFakeKhalti({ secretKey })
    Object.assign(standIn.faults, { errors_before: 1, throttled: 1 })
    return walletActor({
      standIn,
      pay: (payment) => standIn.change(payment, 'Completed'),
      giveUp: (payment) => standIn.change(payment, 'User canceled'),
      returnOf: (payment) => standIn.returnOf(payment),
      claim: (payment, { amount_minor, reference }) =>
        khaltiReturn({ payment, amount_minor, order: reference }),
    })
  },
}
