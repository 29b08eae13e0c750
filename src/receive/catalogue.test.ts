import { expect, it } from 'vitest'
import { withPostgres } from '../../test/database.ts'
import { workOnce } from '../cli/service.ts'
import type { OrderItem } from '../facts/order.ts'
import { subscriptionStatus } from '../facts/subscription.ts'
import { createPaidOnce, type PaidOnce } from '../paidonce.ts'
import { settleItem } from '../settle/item.ts'
import { readCatalogue } from './catalogue.ts'

const PRO: OrderItem = { item: 'plan:pro', quantity: 1 }

it.each<[string, string, unknown]>([
  ['a price without items', 'price_1', []],
  ['a price whose items are no list', 'price_1', PRO],
  ['an item that is blank', 'price_1', [{ ...PRO, item: ' ' }]],
  ['an item named twice', 'price_1', [PRO, PRO]],
  ['a quantity of none', 'price_1', [{ ...PRO, quantity: 0 }]],
  ['an end without a zone', 'price_1', [{ ...PRO, valid_until: '2026-01-01' }]],
  ['a price that no message can name', 'price\n1', [PRO]],
  ['a price without a name', '', [PRO]],
  ['credits, whose periods have no price', 'price_1', [{ ...PRO, credits: true }]],
])('P56 a catalogue refuses %s at the start', (_, price, items) => {
  expect(() => readCatalogue({ [price]: items as OrderItem[] })).toThrowError(
    expect.objectContaining({ code: 'config_invalid' }),
  )
})

it('P56 holds the items of a price in one order', () => {
  const catalogue = readCatalogue({
    price_1: [
      { item: 'b', quantity: 2, credits: false },
      { item: 'a', quantity: 1 },
    ],
  })
  expect([...catalogue]).toEqual([
    [
      'price_1',
      [
        { item: 'a', quantity: 1 },
        { item: 'b', quantity: 2 },
      ],
    ],
  ])
})

withPostgres('a catalogue that is mended', (open, url) => {
  async function start(catalogue: Readonly<Record<string, readonly OrderItem[]>>): Promise<PaidOnce> {
    return createPaidOnce({
      mode: 'test',
      database: url(),
      endpoints: {},
      catalogue,
      effects: async () => undefined,
    })
  }

  async function sell(holder: string): Promise<void> {
    const paidonce = await start({})
    const subject = {
      kind: 'subscription',
      namespace: 'stripe',
      account: 'default',
      id: `sub_${holder}`,
    } as const
    const at = '2026-01-01T00:00:00.000Z'
    const told = subscriptionStatus(subject, { status: 'active', at, price: 'price_new', order: holder })
    const recurring = { by_price: true }
    await paidonce.orders.register({
      reference: holder,
      amount_minor: 100n,
      currency: 'USD',
      recurring,
      holder,
    })
    const source = { kind: 'merchant', id: 0n, version: 1 } as const
    await paidonce.settler.settleOne(0, settleItem({ tenant: 'default', source, facts: [told] }))
    expect(await paidonce.rights(holder)).toEqual([])
    await paidonce.close()
  }

  it('P26 P56 case-47 runs what waited for it with startWork', async () => {
    await open()
    await sell('u1')
    const paidonce = await start({ price_new: [PRO] })
    const work = await paidonce.startWork()
    await work.kept.runOnce()
    expect(await paidonce.rights('u1')).toMatchObject([{ item: 'plan:pro', state: 'granted', revision: 1 }])
    await work.stop()
    await paidonce.close()
  })

  it('P26 P56 case-47 runs what waited for it with work --once', async () => {
    await open()
    await sell('u2')
    const paidonce = await start({ price_new: [PRO] })
    const once = () =>
      workOnce(paidonce, { onError: (error) => expect(error).toBeNull(), writeLine: () => true })
    await once()
    await once()
    expect(await paidonce.rights('u2')).toMatchObject([{ item: 'plan:pro', state: 'granted', revision: 1 }])
    await paidonce.close()
  })
})
