import { startFakeImePay } from '../../../providers/ime-pay/fake.ts'
import { imePay, imePayReturn } from '../../../providers/ime-pay/index.ts'
import { walletActor } from './away.ts'
import type { Player } from './player.ts'

const MERCHANT = { merchantCode: 'DEMOSHOP', apiUser: 'demo-shop' }

export const player: Player = {
  name: 'ime-pay',
  currencies: ['NPR'],
  secret: (seed) => seed,
  provider: (password, baseUrl) => imePay({ ...MERCHANT, password, module: 'DEMO', mode: 'live', baseUrl }),
  enter: async (password) => {
    const standIn = await startFakeImePay({ ...MERCHANT, password })
    Object.assign(standIn.faults, { errors_before: 1, lost_answers: 1 })
    return walletActor({
      standIn,
      pay: (payment) => standIn.change(payment, '0'),
      giveUp: (payment) => standIn.change(payment, '3'),
      returnOf: (payment) => standIn.returnOf(payment),
      claim: (payment, { amount_minor }) => imePayReturn({ payment, amount_minor }),
    })
  },
}
