import { afterEach, beforeEach, expect, it } from 'vitest'
import { withPglite } from '../../test/database.ts'
import { alarms, type Clock, deliverAll, rows, stripeShop } from '../../test/operation-shop.ts'
import { audit } from '../audit/audit.ts'
import { EffectsWorker } from '../effects/worker.ts'
import { type StripeFake, startStripeFake } from '../providers/stripe/fake.ts'
import type { Database } from '../store/database.ts'

let fake: StripeFake
let clock: Clock

beforeEach(async () => {
  clock = { now_ms: Date.now() }
  fake = await startStripeFake({ now_ms: () => clock.now_ms, seed: 'Due' })
})
afterEach(() => fake.close())

const POLICY = { surplus: 'refund', automatic_refund_after_ms: 0 } as const

async function paidTwice(database: Database, effects?: Record<string, () => void>) {
  const shop = stripeShop(database, clock, fake, { policy: POLICY, effects, log: () => undefined })
  await shop.order('A-1')
  for (const payment of ['pi_1', 'pi_2']) {
    fake.pay({ payment, amount_minor: 2_000n, order: 'A-1' })
    clock.now_ms += 2_000
  }
  await deliverAll(shop, fake)
  const deliverEffects = () =>
    new EffectsWorker({ database, deliverer: shop.paidonce.delivererOn(database) }).runOnce()
  return { ...shop, deliverEffects }
}

withPglite('a refund that a policy makes due', (database_of) => {
  it('becomes an operation, once however often the effect is delivered, and takes nothing from the buyer', async () => {
    const database = await database_of()
    const shop = await paidTwice(database)
    await shop.deliverEffects()
    const [planned, ...others] = await shop.operations.list()
    expect(others).toEqual([])
    expect(planned).toMatchObject({ kind: 'refund', state: 'planned', amount_minor: 2_000n })
    // Delivered again, as after a crash between doing and acknowledging.
    await database.query({
      name: '',
      text: "update effects set state = 'due', finished_at = null where topic = 'refund.due'",
    })
    await shop.deliverEffects()
    expect(await shop.operations.list()).toHaveLength(1)
    await shop.run(2)
    await deliverAll(shop, fake)
    expect(await shop.operations.list()).toMatchObject([{ state: 'succeeded' }])
    expect(await rows(database, 'select state from entitlements')).toEqual([{ state: 'granted' }])
    expect(await rows(database, 'select surplus_minor::text as surplus from orders')).toEqual([
      { surplus: '0' },
    ])
    expect(await alarms(database)).toEqual([])
    expect((await audit(database)).differences).toEqual([])
  })

  it('is not asked for when a person gave it back first', async () => {
    const database = await database_of()
    const shop = await paidTwice(database)
    await shop.deliverEffects()
    const [planned] = await shop.operations.list()
    fake.giveBack({ payment: planned!.payment!, amount_minor: 2_000n })
    await shop.run(2)
    expect(await shop.operations.list()).toMatchObject([{ state: 'superseded' }])
    expect(fake.requests.filter(({ method }) => method === 'POST')).toEqual([])
  })

  it("goes to the merchant's own handler where there is one", async () => {
    const database = await database_of()
    let heard = 0
    const shop = await paidTwice(database, {
      'refund.due': () => {
        heard += 1
      },
    })
    await shop.deliverEffects()
    expect(heard).toBe(1)
    expect(await shop.operations.list()).toEqual([])
  })
})
