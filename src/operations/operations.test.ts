import { afterEach, beforeEach, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import {
  type Clock,
  deliverAll,
  HOUR_MS,
  alarms as open,
  rows,
  stripeShop,
} from '../../test/operation-shop.ts'
import { audit } from '../audit/audit.ts'
import { type StripeFake, startStripeFake } from '../providers/stripe/fake.ts'
import type { Database } from '../store/database.ts'
import type { OperationWorkerOptions } from './operation-worker.ts'

let fake: StripeFake
let clock: Clock

beforeEach(async () => {
  clock = { now_ms: Date.now() }
  fake = await startStripeFake({ now_ms: () => clock.now_ms, seed: 'Op' })
})
afterEach(() => fake.close())

/** One order, paid for 20.00. */
async function paidShop(database: Database, worker: OperationWorkerOptions = {}) {
  const shop = stripeShop(database, clock, fake, { worker })
  await shop.order('A-1')
  fake.pay({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' })
  await deliverAll(shop, fake)
  return { ...shop, deliverAll: () => deliverAll(shop, fake) }
}

const REFUND = { key: 'refund/A-1/1', payment: 'stripe/default/pi_1', amount_minor: 500n }
const refunded = async (database: Database) =>
  (await rows(database, 'select refunded_minor::text from payments'))[0]?.refunded_minor
const given = () => fake.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/refunds')
const atStripe = () =>
  fake
    .webhooks()
    .map((text) => JSON.parse(text) as { type: string; data: { object: { id: string; amount: number } } })
    .filter(({ type }) => type.startsWith('refund.'))
    .map(({ data }) => data.object.amount)

withDatabases('a refund that we ask for', (database_of) => {
  it('P36 stands in the database with its key before it is sent, and its answer and the webhook are one fact', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const planned = await shop.operations.refund(REFUND)
    expect(planned).toMatchObject({ state: 'planned', amount_minor: 500n, currency: 'USD', attempt: 1 })
    expect(given()).toEqual([])
    await shop.worker.runOnce()
    const done = await shop.operations.show(REFUND.key)
    expect(done).toMatchObject({ state: 'succeeded', requests: [{ number: 1, outcome: 'accepted' }] })
    expect(done.provider_id).toMatch(/^re_/)
    expect(await refunded(database)).toBe('500')
    await shop.deliverAll()
    expect(await refunded(database)).toBe('500')
    expect(await rows(database, 'select provider_refund_id from refunds')).toEqual([
      { provider_refund_id: done.provider_id },
    ])
    expect(
      await rows(database, "select 1 as told from witnesses where source_kind = 'operation'"),
    ).not.toEqual([])
    expect((await audit(database)).differences).toEqual([])
    expect(await open(database)).toEqual([])
  })

  it('P36 makes one operation of two causes with one key, at the same moment too, and refuses other parameters under it', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const made = await Promise.all([1, 2, 3].map(() => shop.operations.refund(REFUND)))
    expect(made.map(({ key }) => key)).toEqual([REFUND.key, REFUND.key, REFUND.key])
    await shop.worker.runOnce()
    expect(await shop.operations.refund(REFUND)).toMatchObject({ state: 'succeeded' })
    await expect(shop.operations.refund({ ...REFUND, amount_minor: 600n })).rejects.toMatchObject({
      code: 'operation_conflict',
    })
    await shop.worker.runOnce()
    expect(atStripe()).toEqual([500])
  })

  it('seq-12 reserves what is in flight, so that refunds together never exceed what can be given back', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const asked = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((key) => shop.operations.refund({ ...REFUND, key, amount_minor: 900n })),
    )
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(
      asked
        .filter(({ status }) => status === 'rejected')
        .map((one) => (one as PromiseRejectedResult).reason.code),
    ).toEqual(Array(3).fill('operation_refused'))
    await shop.worker.runOnce()
    expect(atStripe()).toEqual([900, 900])
    expect(await shop.operations.refund({ key: 'rest', payment: 'pi_1' })).toMatchObject({
      amount_minor: 200n,
    })
    await shop.worker.runOnce()
    expect(await refunded(database)).toBe('2000')
    await expect(shop.operations.refund({ key: 'more', payment: 'pi_1' })).rejects.toMatchObject({
      code: 'operation_refused',
    })
  })

  it('case-41 sends two deliberate refunds of the same amount: equality of amount is not sameness', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    await shop.operations.refund({ ...REFUND, key: 'first' })
    await shop.operations.refund({ ...REFUND, key: 'second' })
    await shop.worker.runOnce()
    expect(atStripe()).toEqual([500, 500])
    expect(await refunded(database)).toBe('1000')
  })

  it('P37 case-41 seq-21 gives back once when the answer is lost: unknown, then found by its key, never failed', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    // The SDK repeats it once by itself.
    fake.faults.lost_answers = 2
    await shop.operations.refund(REFUND)
    // Only the request for the refund loses its answer.
    fake.faults.lost_answers = 0
    const losing = shop.newWorker({
      onBoundary: (boundary) => {
        if (boundary === 'begun') fake.faults.lost_answers = 2
      },
    })
    await losing.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({
      state: 'unknown',
      waits_for_person: false,
    })
    expect(await refunded(database)).toBe('0')
    // The money that may have gone is reserved.
    await expect(
      shop.operations.refund({ key: 'all', payment: 'pi_1', amount_minor: 2_000n }),
    ).rejects.toMatchObject({ code: 'operation_refused' })
    clock.now_ms += HOUR_MS
    await shop.worker.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'succeeded' })
    expect(atStripe()).toEqual([500])
    expect(await refunded(database)).toBe('500')
    expect(given().map(({ headers }) => headers['idempotency-key'])).toSatisfy(
      (keys: string[]) => new Set(keys).size === 1,
    )
  })

  it('seq-9 is completed by the webhook that tells of it, with its id, and nothing more is sent', async () => {
    const database = await database_of()
    const shop = await paidShop(database, {
      onBoundary: (boundary) => {
        if (boundary === 'begun') fake.faults.lost_answers = 2
      },
    })
    await shop.operations.refund(REFUND)
    await shop.worker.runOnce()
    const sent = given().length
    await shop.deliverAll()
    const told = await shop.operations.show(REFUND.key)
    expect(told).toMatchObject({ state: 'succeeded', provider_id: expect.stringMatching(/^re_/) })
    await shop.run(3)
    expect(given()).toHaveLength(sent)
    expect(await refunded(database)).toBe('500')
  })

  it('seq-26 takes a webhook that comes before the answer for what it is, and the answer changes nothing', async () => {
    const database = await database_of()
    let told: unknown
    const shop = await paidShop(database, {
      onBoundary: async (boundary) => {
        if (boundary !== 'answered') return
        await shop.deliverAll()
        told = await shop.operations.show(REFUND.key)
      },
    })
    await shop.operations.refund(REFUND)
    await shop.worker.runOnce()
    expect(told).toMatchObject({ state: 'succeeded' })
    expect(await shop.operations.show(REFUND.key)).toMatchObject({
      state: 'succeeded',
      requests: [{ outcome: 'accepted' }],
    })
    expect(await refunded(database)).toBe('500')
    expect(atStripe()).toEqual([500])
    expect(await open(database)).toEqual([])
  })

  it('P37 takes a crash between the call and the store for unknown, and finds out', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const mortal = shop.newWorker({
      onBoundary: (boundary) => {
        if (boundary === 'answered') throw new Error('killed')
      },
    })
    await shop.operations.refund(REFUND)
    await mortal.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'in_flight' })
    expect(await shop.worker.runOnce()).toBe(0)
    clock.now_ms += HOUR_MS
    await shop.worker.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'succeeded' })
    expect(atStripe()).toEqual([500])
    expect(await refunded(database)).toBe('500')
  })

  it('P37 takes a crash before the call for unknown too, and repeats under the same key', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const mortal = shop.newWorker({
      onBoundary: (boundary) => {
        if (boundary === 'begun') throw new Error('killed')
      },
    })
    await shop.operations.refund(REFUND)
    await mortal.runOnce()
    expect(given()).toEqual([])
    clock.now_ms += HOUR_MS
    await shop.worker.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({
      state: 'succeeded',
      attempt: 1,
      requests: [{ outcome: '' }, { outcome: 'accepted' }],
    })
    expect(atStripe()).toEqual([500])
  })

  it('seq-22 never repeats a definitive no by itself, and begins a new attempt under a new key when told to', async () => {
    const database = await database_of()
    const shop = await paidShop(database, {
      onBoundary: (boundary) => {
        // Given back in the dashboard between our last look and the request.
        if (boundary === 'begun' && given().length === 0)
          fake.giveBack({ payment: 'pi_1', amount_minor: 1_900n })
      },
    })
    await shop.operations.refund(REFUND)
    await shop.run(3)
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'failed_definitive', attempt: 1 })
    expect(given()).toHaveLength(1)
    expect(await open(database)).toEqual([{ kind: 'operation_failed' }])
    const retried = await shop.operations.retry({ key: REFUND.key, actor: 'ada', reason: 'try once more' })
    expect(retried).toMatchObject({ state: 'planned', attempt: 2 })
    expect(await open(database)).toEqual([])
    // The last look sees now that so much cannot be given back.
    await shop.run(1)
    expect(await shop.operations.show(REFUND.key)).toMatchObject({
      state: 'superseded',
      code: 'not_refundable',
    })
    expect(given()).toHaveLength(1)
  })

  it('P37 does not lean on a replayed 500: it is unknown until the key is found at the provider', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const unlucky = shop.newWorker({
      onBoundary: (boundary) => {
        if (boundary === 'begun') fake.faults.errors_after = 1
      },
    })
    await shop.operations.refund(REFUND)
    await unlucky.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'unknown' })
    // Reads lag, so that asking does not help yet, and a repeat gets the same error again.
    fake.faults.lag_ms = 2 * HOUR_MS
    clock.now_ms += HOUR_MS
    await shop.worker.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({
      state: 'unknown',
      requests: [{ outcome: 'unknown' }, { outcome: 'unknown' }],
    })
    expect(await open(database)).toEqual([{ kind: 'operation_unknown' }])
    fake.faults.lag_ms = 0
    await shop.run(2)
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'succeeded' })
    expect(atStripe()).toEqual([500])
    expect(await open(database)).toEqual([])
  })

  it('P37 asks the list first when the time of the key is over, and begins anew only when it was not there', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const mortal = shop.newWorker({
      onBoundary: (boundary) => {
        if (boundary === 'begun') throw new Error('killed')
      },
    })
    await shop.operations.refund(REFUND)
    await mortal.runOnce()
    clock.now_ms += 30 * HOUR_MS
    fake.faults.keys_expire = true
    await shop.run(2)
    const done = await shop.operations.show(REFUND.key)
    expect(done).toMatchObject({ state: 'succeeded', attempt: 2 })
    expect(new Set(done.requests.map(({ provider_key }) => provider_key)).size).toBe(2)
    expect(atStripe()).toEqual([500])
  })

  it('P37 finds in the list what was done before the key ran out', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const mortal = shop.newWorker({
      onBoundary: (boundary) => {
        if (boundary === 'answered') throw new Error('killed')
      },
    })
    await shop.operations.refund(REFUND)
    await mortal.runOnce()
    clock.now_ms += 30 * HOUR_MS
    fake.faults.keys_expire = true
    await shop.run(2)
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(atStripe()).toEqual([500])
  })

  it('P54 looks at the provider once more before it sends, and drops what was given back elsewhere', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    await shop.operations.refund({ ...REFUND, amount_minor: 1_500n })
    // In the dashboard, and its webhook has not come.
    fake.giveBack({ payment: 'pi_1', amount_minor: 1_000n })
    await shop.worker.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({
      state: 'superseded',
      code: 'not_refundable',
    })
    expect(given()).toEqual([])
    expect(atStripe()).toEqual([1_000])
    expect(await refunded(database)).toBe('1000')
    expect(await open(database)).toEqual([{ kind: 'operation_failed' }])
  })

  it('P54 waits while the provider cannot be looked at, and sends when it can', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    await shop.operations.refund(REFUND)
    fake.faults.locked_out = true
    await shop.worker.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'planned', code: 'look_up' })
    expect(given()).toEqual([])
    fake.faults.locked_out = false
    await shop.run(2)
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'succeeded' })
  })

  it('wants a second word for a refund while a dispute is open', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    await shop.operations.refund({ ...REFUND, key: 'before' })
    fake.dispute({ payment: 'pi_1', amount_minor: 1_000n })
    await shop.worker.runOnce()
    expect(await shop.operations.show('before')).toMatchObject({
      code: 'dispute_open',
      waits_for_person: true,
    })
    expect(await open(database)).toEqual([{ kind: 'operation_failed' }])
    await expect(shop.operations.refund(REFUND)).rejects.toMatchObject({ code: 'operation_refused' })
    await shop.operations.confirm({ key: 'before', actor: 'ada', reason: 'agreed with the buyer' })
    await shop.worker.runOnce()
    expect(await shop.operations.show('before')).toMatchObject({
      state: 'succeeded',
      notes: [{ said: 'confirmed', actor: 'ada' }],
    })
    expect(await open(database)).toEqual([])
    // What the dispute took cannot be given back as well.
    await expect(
      shop.operations.refund({ ...REFUND, key: 'too-much', amount_minor: 501n, despite_dispute: true }),
    ).rejects.toMatchObject({ code: 'operation_refused' })
  })

  it('lets two workers send it once', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const workers = [shop.newWorker(), shop.newWorker(), shop.newWorker()]
    for (const key of ['a', 'b', 'c', 'd'])
      await shop.operations.refund({ ...REFUND, key, amount_minor: 100n })
    await Promise.all(workers.map((worker) => worker.runOnce()))
    expect(given()).toHaveLength(4)
    expect(await refunded(database)).toBe('400')
  })

  it('lets the answer of a worker that was away for long count, and its silence not', async () => {
    const database = await database_of()
    const shop = await paidShop(database)
    const second = shop.newWorker()
    let away = true
    const slow = shop.newWorker({
      onBoundary: async (boundary) => {
        if (boundary !== 'answered' || !away) return
        away = false
        clock.now_ms += HOUR_MS
        await second.runOnce()
      },
    })
    await shop.operations.refund(REFUND)
    await slow.runOnce()
    expect(await shop.operations.show(REFUND.key)).toMatchObject({ state: 'succeeded' })
    expect(atStripe()).toEqual([500])
    expect(await refunded(database)).toBe('500')
  })
})
