import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop } from '../../test/stripe-shop.ts'
import { toy, toyPaid, toyPayment } from '../../test/toy-provider.ts'
import { paymentMilestone } from '../facts/payment.ts'
import { settleItem } from '../settle/item.ts'
import type { Database } from '../store/database.ts'
import { LookupWorker } from './lookup-worker.ts'
import { Sweeper } from './sweeper.ts'

const HOUR_MS = 3_600_000
const noAsk = () => Promise.reject(new Error('the toy needs no HTTP'))
const rows = (database: Database, text: string) => database.query({ name: '', text })

withDatabases('a sweep', (open) => {
  it('P39 P40 asks about a payment that stands still, and never closes it by time', async () => {
    const database = await open()
    const box = toy()
    const { paidonce, order } = openShop(database, { options: { endpoints: { toy: box.provider } } })
    await order('A-1')
    const facts = [paymentMilestone(toyPayment('p1'), { milestone: 'pending', order: 'A-1' })]
    const source = { kind: 'merchant', id: 0n, version: 1 } as const
    await paidonce.settler.settleOne(0, settleItem({ tenant: 'default', source, facts }))
    let now_ms = Date.now()
    const { settler, endpoints } = paidonce
    const sweepers = [1, 2].map(() => new Sweeper(settler, endpoints, 1, () => now_ms))
    const lookups = new LookupWorker(settler, endpoints, 1, noAsk, () => now_ms)
    const asked = async () =>
      (await Promise.all(sweepers.map((one) => one.runOnce()))).map((round) => round.asked)

    expect(await asked()).toEqual([0, 0])
    now_ms += 2 * HOUR_MS
    expect((await asked()).sort()).toEqual([0, 1])
    await lookups.runOnce()
    expect(await rows(database, 'select status from payments')).toEqual([{ status: 'pending' }])
    // The question is open, so nobody asks a second one.
    now_ms += 2 * HOUR_MS
    expect(await asked()).toEqual([0, 0])

    box.api.answer = (id) => toyPaid(id, 2_000n, 'A-1')
    now_ms += 24 * HOUR_MS
    await asked()
    await lookups.runOnce()
    expect(await rows(database, 'select state from entitlements')).toEqual([{ state: 'granted' }])
    now_ms += 24 * HOUR_MS
    expect(await asked()).toEqual([0, 0])
  })

  it("finds a parked order's terms in the merchant's tables once they are there", async () => {
    const database = await open()
    const box = toy()
    const terms = new Map<
      string,
      { amount_minor: bigint; currency: string; items: { item: string; quantity: number }[] }
    >()
    const findOrders = async (references: readonly string[]) =>
      new Map(references.flatMap((one) => (terms.has(one) ? [[one, terms.get(one)!] as const] : [])))
    const { paidonce } = openShop(database, { options: { endpoints: { toy: box.provider }, findOrders } })
    const answer = toyPaid('p1', 2_000n, 'A-1')
    const source = { kind: 'merchant', id: 0n, version: 1 } as const
    const facts = answer.outcome === 'found' ? answer.facts : []
    await paidonce.settler.settleOne(0, settleItem({ tenant: 'default', source, facts }))
    let now_ms = Date.now()
    const sweeper = new Sweeper(paidonce.settler, paidonce.endpoints, 1, () => now_ms)
    expect(await sweeper.runOnce()).toMatchObject({ woken: 1 })
    expect(await rows(database, 'select status from orders')).toEqual([{ status: 'awaiting_terms' }])
    terms.set('A-1', { amount_minor: 2_000n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] })
    now_ms += 2 * HOUR_MS
    expect(await sweeper.runOnce()).toMatchObject({ woken: 1 })
    expect(await rows(database, 'select status from orders')).toEqual([{ status: 'paid' }])
    now_ms += 2 * HOUR_MS
    expect(await sweeper.runOnce()).toMatchObject({ woken: 0 })
  })
})
