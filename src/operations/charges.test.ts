import { afterEach, beforeEach, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import {
  alarms,
  type Clock,
  deliverAll,
  HOUR_MS,
  type OperationShop,
  rows,
  stripeShop,
} from '../../test/operation-shop.ts'
import { audit } from '../audit/audit.ts'
import { EffectsWorker } from '../effects/worker.ts'
import { type StripeFake, startStripeFake } from '../providers/stripe/fake.ts'
import type { Database } from '../store/database.ts'

let fake: StripeFake
let clock: Clock

beforeEach(async () => {
  clock = { now_ms: Date.now() }
  fake = await startStripeFake({ now_ms: () => clock.now_ms, seed: 'Ch' })
})
afterEach(() => fake.close())

const CHARGE = { key: 'charge/A-1', order: 'A-1', endpoint: 'stripe', customer: 'cus_1', method: 'pm_1' }
const sent = () =>
  fake.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/payment_intents')
const charged = () =>
  fake.webhooks().filter((text) => JSON.parse(text).type === 'payment_intent.succeeded').length
const rights = (database: Database) => rows(database, 'select item, state from entitlements')

withDatabases('a charge that we ask for', (database_of) => {
  it('P36 pays the order with the answer itself; the webhook then changes nothing', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    expect(await shop.operations.charge(CHARGE)).toMatchObject({ state: 'planned', amount_minor: 2_000n })
    await shop.worker.runOnce()
    const done = await shop.operations.show(CHARGE.key)
    expect(done).toMatchObject({ state: 'succeeded', payment: expect.stringMatching(/^pi_/) })
    expect(await rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
    await deliverAll(shop, fake)
    expect(await rows(database, 'select paid_minor::text as paid from orders')).toEqual([{ paid: '2000' }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('P36 makes one charge of two events that ask for it through effect handlers', async () => {
    const database = await database_of()
    const shop: OperationShop = stripeShop(database, clock, fake, {
      effects: { 'receipt.due': () => shop.operations.charge(CHARGE) },
    })
    await shop.order('A-1')
    for (const order of ['setup-1', 'setup-2']) {
      await shop.order(order, 100n)
      fake.pay({ payment: `pi_${order}`, amount_minor: 100n, order })
    }
    await deliverAll(shop, fake)
    const effects = new EffectsWorker({ database, deliverer: shop.paidonce.delivererOn(database) })
    await effects.runOnce()
    expect(await rows(database, "select state from effects where topic = 'receipt.due'")).toEqual([
      { state: 'done' },
      { state: 'done' },
    ])
    expect(await shop.operations.list()).toMatchObject([{ key: CHARGE.key, state: 'planned' }])
    await shop.run(2)
    expect(sent()).toHaveLength(1)
    expect(await rights(database)).toHaveLength(3)
  })

  it('seq-1 refuses a second charge of an order while one is unresolved, under whatever key', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake, {
      worker: {
        onBoundary: (boundary) => {
          if (boundary === 'begun') fake.faults.lost_answers = 2
        },
      },
    })
    await shop.order('A-1')
    await shop.operations.charge(CHARGE)
    await shop.worker.runOnce()
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({ state: 'unknown' })
    await expect(shop.operations.charge({ ...CHARGE, key: 'another' })).rejects.toMatchObject({
      code: 'operation_refused',
      message: expect.stringContaining(CHARGE.key),
    })
    const both = await Promise.allSettled(
      ['x', 'y'].map((key) => shop.operations.charge({ ...CHARGE, key, amount_minor: 1n })),
    )
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    clock.now_ms += HOUR_MS
    await shop.worker.runOnce()
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({ state: 'succeeded' })
    await expect(shop.operations.charge({ ...CHARGE, key: 'another' })).rejects.toMatchObject({
      code: 'operation_refused',
    })
    expect(charged()).toBe(1)
  })

  it('lets one of two charges through that are asked for at the same moment', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    const both = await Promise.allSettled(
      ['x', 'y', 'z'].map((key) => shop.operations.charge({ ...CHARGE, key })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
  })

  it('seq-18 P54 does not charge what the buyer paid by themselves in the meantime', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    await shop.operations.charge(CHARGE)
    // Paid through the checkout seconds before; its webhook has not come.
    fake.pay({ payment: 'pi_link', amount_minor: 2_000n, order: 'A-1' })
    await shop.worker.runOnce()
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({ state: 'superseded', code: 'not_owed' })
    expect(sent()).toEqual([])
    expect(await rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
  })

  it('seq-18 waits while another payment of the order is under way', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    fake.pay({ payment: 'pi_debit', amount_minor: 2_000n, order: 'A-1', status: 'processing' })
    await shop.operations.charge(CHARGE)
    await shop.run(3)
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({
      state: 'planned',
      code: 'payment_under_way',
    })
    expect(sent()).toEqual([])
    fake.pay({ payment: 'pi_debit', amount_minor: 2_000n, order: 'A-1', status: 'failed' })
    await shop.run(3)
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({ state: 'succeeded' })
  })

  it('seq-2 derives everything above from the answer that ends an unknown charge', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    await shop.operations.charge(CHARGE)
    await shop
      .newWorker({
        onBoundary: (boundary) => {
          if (boundary === 'answered') throw new Error('killed')
        },
      })
      .runOnce()
    expect(await rights(database)).toEqual([])
    clock.now_ms += HOUR_MS
    await shop.worker.runOnce()
    expect(await rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
    expect(await rows(database, 'select status, paid_minor::text as paid from orders')).toEqual([
      { status: 'paid', paid: '2000' },
    ])
    expect(charged()).toBe(1)
  })

  it.each(['failed_definitive', 'superseded'])(
    'tells nobody any more that it was not sent when it is over as %s',
    async (state) => {
      const database = await database_of()
      const shop = stripeShop(database, clock, fake)
      await shop.order('A-1')
      await shop.operations.charge({ ...CHARGE, method: 'pm_declined' })
      fake.faults.locked_out = true
      await shop.run(2)
      expect(await alarms(database)).toEqual([{ kind: 'operation_failed' }])
      fake.faults.locked_out = false
      if (state === 'superseded') fake.pay({ payment: 'pi_link', amount_minor: 2_000n, order: 'A-1' })
      await shop.run(3)
      expect(await shop.operations.show(CHARGE.key)).toMatchObject({ state })
      expect(await alarms(database)).toEqual([])
    },
  )

  it('takes a declined card for a no, and charges another one under a new attempt', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    await shop.operations.charge({ ...CHARGE, method: 'pm_declined' })
    await shop.run(3)
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({
      state: 'failed_definitive',
      code: 'insufficient_funds',
    })
    expect(sent()).toHaveLength(1)
    await deliverAll(shop, fake)
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({ state: 'failed_definitive' })
    expect(await alarms(database)).toEqual([])
    await shop.operations.charge({ ...CHARGE, key: 'charge/A-1/other-card' })
    await expect(
      shop.operations.retry({ key: CHARGE.key, actor: 'ada', reason: 'at the same time' }),
    ).rejects.toMatchObject({ code: 'operation_refused' })
    await shop.worker.runOnce()
    expect(await shop.operations.show('charge/A-1/other-card')).toMatchObject({ state: 'succeeded' })
    expect(charged()).toBe(1)
  })

  it('seq-10 never calls a charge failed that nobody could ask about: it stays unknown and a person hears', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake, {
      worker: {
        onBoundary: (boundary) => {
          if (boundary === 'begun') fake.faults.locked_out = true
        },
      },
    })
    await shop.order('A-1')
    await shop.operations.charge(CHARGE)
    await shop.run(40)
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({ state: 'unknown' })
    expect(await alarms(database)).toEqual([{ kind: 'operation_unknown' }])
    expect(await rows(database, "select status from orders where reference = 'A-1'")).toEqual([
      { status: 'awaiting_payment' },
    ])
  })

  it('leaves to a person what the list does not show once the key is forgotten, and takes their word with its evidence', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    await shop.operations.charge(CHARGE)
    await shop
      .newWorker({
        onBoundary: (boundary) => {
          if (boundary === 'begun') throw new Error('killed')
        },
      })
      .runOnce()
    clock.now_ms += 30 * HOUR_MS
    await shop.run(3)
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({ state: 'unknown', waits_for_person: true })
    expect(await alarms(database)).toEqual([{ kind: 'operation_unknown' }])
    const said = { key: CHARGE.key, actor: 'ada', reason: 'not in the dashboard, request log is empty' }
    await expect(shop.operations.resolve({ ...said, outcome: 'succeeded' })).rejects.toMatchObject({
      code: 'operation_invalid',
    })
    expect(await shop.operations.resolve({ ...said, outcome: 'failed' })).toMatchObject({
      state: 'failed_definitive',
    })
    expect(await alarms(database)).toEqual([])
    expect(await shop.operations.retry(said)).toMatchObject({ state: 'planned', attempt: 2 })
    await shop.worker.runOnce()
    expect(await shop.operations.show(CHARGE.key)).toMatchObject({
      state: 'succeeded',
      notes: [{ said: 'failed', actor: 'ada' }, { said: 'retry' }],
    })
    expect(charged()).toBe(1)
  })

  it('refuses what our own order does not ask for', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    for (const [change, code] of [
      [{ amount_minor: 2_001n }, 'operation_refused'],
      [{ currency: 'EUR' }, 'operation_refused'],
      [{ order: 'nobody' }, 'not_found'],
      [{ endpoint: 'nowhere' }, 'not_found'],
      [{ customer: '' }, 'operation_invalid'],
      [{ key: ' ' }, 'operation_invalid'],
      [{ amount_minor: 0n }, 'operation_invalid'],
    ] as const) {
      await expect(shop.operations.charge({ ...CHARGE, ...change })).rejects.toMatchObject({ code })
    }
    expect(await shop.operations.list()).toEqual([])
  })

  it('can be given up before it is sent, and then frees the order', async () => {
    const database = await database_of()
    const shop = stripeShop(database, clock, fake)
    await shop.order('A-1')
    await shop.operations.charge(CHARGE)
    await shop.operations.abandon({ key: CHARGE.key, actor: 'ada', reason: 'paid in cash' })
    await shop.worker.runOnce()
    expect(sent()).toEqual([])
    await expect(
      shop.operations.retry({ key: CHARGE.key, actor: 'ada', reason: 'after all' }),
    ).rejects.toMatchObject({ code: 'operation_refused' })
    expect(await shop.operations.charge({ ...CHARGE, key: 'again' })).toMatchObject({ state: 'planned' })
  })
})
