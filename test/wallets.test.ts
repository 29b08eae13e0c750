import { expect, it } from 'vitest'
import type { Provider } from '../src/providers/contract.ts'
import { startFakeEsewa } from '../src/providers/esewa/fake.ts'
import { esewa } from '../src/providers/esewa/index.ts'
import type { FakeServer } from '../src/providers/fake-server.ts'
import { startFakeImePay } from '../src/providers/ime-pay/fake.ts'
import { imePay } from '../src/providers/ime-pay/index.ts'
import { startFakeKhalti } from '../src/providers/khalti/fake.ts'
import { khalti } from '../src/providers/khalti/index.ts'
import type { Redirect } from '../src/providers/start.ts'
import { withDatabases } from './database.ts'
import { openShop } from './stripe-shop.ts'
import { asReturn } from './wallet.ts'

/** A wallet's stand-in, with the provider that is pointed at it. */
interface Wallet {
  readonly provider: Provider
  readonly fake: FakeServer & { returnOf(payment: string): string }
  /** The buyer goes where they are sent, and pays. */
  pay(payment: string, redirect: Redirect): Promise<void>
  /** The buyer goes back before paying. */
  turnBack(payment: string): string
}

const WALLETS: Readonly<Record<string, () => Promise<Wallet>>> = {
  esewa: async () => {
    const fake = await startFakeEsewa()
    const bases = { formBaseUrl: fake.url, statusBaseUrl: fake.url }
    return {
      provider: esewa({ productCode: 'EPAYTEST', secret: fake.secret, mode: 'test', ...bases }),
      fake,
      async pay(payment, { url, fields }) {
        await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
        fake.change(payment, 'COMPLETE')
      },
      turnBack: (payment) => `payment=${payment}`,
    }
  },
  'ime-pay': async () => {
    const fake = await startFakeImePay()
    const credentials = {
      merchantCode: 'TESTMERCH',
      apiUser: 'apiuser',
      password: 'apipass',
      module: 'MODULE',
    }
    return {
      provider: imePay({ ...credentials, mode: 'test', baseUrl: fake.url }),
      fake,
      pay: async (payment) => fake.change(payment, '0'),
      turnBack: (payment) => `payment=${encodeURIComponent(payment)}`,
    }
  },
  khalti: async () => {
    const fake = await startFakeKhalti()
    const options = { mode: 'test', websiteUrl: 'https://shop.example.com', baseUrl: fake.url } as const
    return {
      provider: khalti({ secretKey: fake.secretKey, ...options }),
      fake,
      pay: async (payment) => fake.change(payment, 'Completed'),
      turnBack: (payment) => `pidx=${payment}&status=User+canceled`,
    }
  },
}

withDatabases('a buyer with a wallet', (open) => {
  it.each(Object.keys(WALLETS))(
    'P01 P17 %s: a return grants only the order that its payment was started for',
    async (name) => {
      const database = await open()
      const wallet = await WALLETS[name]!()
      const options = { endpoints: { wallet: wallet.provider }, public_url: 'https://shop.example.com' }
      const { paidonce } = openShop(database, { options })
      const order = (reference: string, amount_minor: bigint) =>
        paidonce.orders.register({
          reference,
          amount_minor,
          currency: 'NPR',
          items: [{ item: `licence:${reference}`, quantity: 1 }],
        })
      const start = (reference: string, amount_minor: bigint) =>
        paidonce.startPayment({ endpoint: 'wallet', order: reference, amount_minor, currency: 'NPR' })
      const back = (query: string) => paidonce.paymentReturn({ endpoint: 'wallet', ...asReturn(query) })
      const rights = async () => {
        const text = "select item from entitlements where state = 'granted' order by item"
        return (await database.query<{ item: string }>({ name: '', text })).map(({ item }) => item)
      }

      try {
        await order('DEAR', 270_000n)
        await order('CHEAP', 1_000n)
        const dear = await start('DEAR', 270_000n)
        const cheap = await start('CHEAP', 1_000n)
        await wallet.pay(cheap.payment, cheap.redirect)

        // Nobody has paid for the dear one, whatever the browser says of it.
        expect(['pending', 'canceled']).toContain((await back(wallet.turnBack(dear.payment))).status)
        expect(await rights()).toEqual([])
        // The cheap payment, shown for the dear order, is the cheap order's.
        const shown = await back(`${wallet.fake.returnOf(cheap.payment)}&purchase_order_id=DEAR&order=DEAR`)
        expect(shown).toEqual({ status: 'paid', order: 'CHEAP', payment: cheap.payment })
        expect(await rights()).toEqual(['licence:CHEAP'])

        await wallet.pay(dear.payment, dear.redirect)
        const query = wallet.fake.returnOf(dear.payment)
        for (const _ of [1, 2]) expect(await back(query)).toMatchObject({ status: 'paid', order: 'DEAR' })
        expect(await rights()).toEqual(['licence:CHEAP', 'licence:DEAR'])
      } finally {
        await wallet.fake.close()
      }
    },
  )
})
