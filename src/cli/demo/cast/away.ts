import type { FakeServer } from '../../../providers/fake-server.ts'
import type { Redirect } from '../../../providers/start.ts'
import type { Actor, Journey, Plot, Sale } from './player.ts'
import { CLAIMED } from './plots.ts'

/** A wallet as its stand-in has it: buyers are sent there to pay. */
export interface Wallet {
  readonly standIn: FakeServer
  /** The buyer's browser follows the shop's redirect. Default: nothing has to be done there. */
  readonly follow?: (redirect: Redirect) => Promise<void>
  pay(payment: string): void
  giveUp(payment: string): void
  /** The query that the browser brings back now. */
  returnOf(payment: string): string
  /** A query that claims that this payment was paid; made up by somebody who knows all but secrets. */
  claim(payment: string, sale: Sale): string
}

/** The buyer pays and comes back, some of them again by the back button. */
function comesBack(wallet: Wallet, sale: Sale, times: number): Journey {
  return async (street) => {
    const payment = await begin(wallet, sale, street)
    wallet.pay(payment)
    for (let time = 0; time < times; time += 1) await street.comeBack(wallet.returnOf(payment), true)
  }
}

/** The buyer pays and closes the window: nothing but a look-up can find it. */
function staysAway(wallet: Wallet, sale: Sale): Journey {
  return async (street) => {
    wallet.pay(await begin(wallet, sale, street))
  }
}

/** The buyer is back before the wallet shows the money. */
function isEarly(wallet: Wallet, sale: Sale): Journey {
  return async (street) => {
    const payment = await begin(wallet, sale, street)
    await street.comeBack(wallet.returnOf(payment), true)
    wallet.pay(payment)
  }
}

function givesUp(wallet: Wallet, sale: Sale): Journey {
  return async (street) => {
    const payment = await begin(wallet, sale, street)
    wallet.giveUp(payment)
    await street.comeBack(wallet.returnOf(payment), true)
  }
}

/** The buyer does not pay and says that it was paid; then somebody says it of a payment that there never was. */
function lies(wallet: Wallet, sale: Sale): Journey {
  return async (street) => {
    const payment = await begin(wallet, sale, street)
    await street.comeBack(wallet.claim(payment, sale), false)
    await street.comeBack(wallet.claim(payment.replace(/[0-9](?=[^0-9]*$)/, '0'), sale), false)
  }
}

async function begin(wallet: Wallet, sale: Sale, street: Parameters<Journey>[0]): Promise<string> {
  const { payment, redirect } = await street.startPayment(sale)
  await wallet.follow?.(redirect)
  return payment
}

type Make = (wallet: Wallet, sale: Sale, times: number) => Journey

const PLOTS: readonly (readonly [trouble: string, share: number, paid: boolean, Make])[] = [
  ['paid at the wallet and came back', 40, true, comesBack],
  ['paid at the wallet and never came back', 30, true, staysAway],
  ['came back before the wallet showed the money', 15, true, isEarly],
  ['gave up at the wallet', 8, false, givesUp],
  [CLAIMED, 7, false, lies],
]

/** When the first payment is asked about, the answer is lost. */
function losingOne({ standIn, pay }: Wallet): Wallet['pay'] {
  let lost = false
  return (payment) => {
    pay(payment)
    if (!lost) standIn.faults.lost_answers += 1
    lost = true
  }
}

export function walletActor(given: Wallet): Actor {
  const wallet = { ...given, pay: losingOne(given) }
  const plots = PLOTS.map(
    ([trouble, share, paid, make]): Plot => ({
      trouble,
      share,
      tell: (sale, dice) => ({
        registered: 'before',
        paid,
        scenes: [make(wallet, sale, dice.percent(40) ? 2 : 1)],
      }),
    }),
  )
  return { plots, forgeries: [], standIn: wallet.standIn }
}
