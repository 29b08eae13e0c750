import { afterEach, expect, it } from 'vitest'
import { withPostgres } from '../../test/database.ts'
import { alarms, type Clock, deliverAll, HOUR_MS, rows, stripeShop } from '../../test/operation-shop.ts'
import { audit } from '../audit/audit.ts'
import { type StripeFake, startStripeFake } from '../providers/stripe/fake.ts'

/** So many refunds and so many charges. */
const MANY = Number(process.env.PAIDONCE_OPERATIONS ?? 15)

let fake: StripeFake
afterEach(() => fake.close())

/** The same numbers for the same seed. */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

interface AtStripe {
  readonly id: string
  readonly metadata: Readonly<Record<string, string>>
}

/** How often the stand-in has done what carries each of our keys. */
function doneAtStripe(type: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of fake.webhooks()) {
    const event = JSON.parse(text) as { type: string; data: { object: AtStripe } }
    const key = event.data.object.metadata?.paidonce_operation
    if (event.type === type && key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

withPostgres('charges and refunds while everything goes wrong', (database_of) => {
  it('P37 are done at most once each, exactly once where we say succeeded, and none is failed by assumption', async () => {
    const database = await database_of()
    const clock: Clock = { now_ms: Date.now() }
    const chance = chances(20_251_009)
    fake = await startStripeFake({ now_ms: () => clock.now_ms, seed: 'Chaos' })
    let trouble = true
    const shop = stripeShop(database, clock, fake, {
      worker: {
        limit_ms: 2_000,
        onBoundary: (boundary) => {
          if (!trouble) return
          // Killed between any two steps.
          if (chance() < 0.08) throw new Error(`killed after ${boundary}`)
          if (boundary !== 'begun') return
          const luck = chance()
          if (luck < 0.3) fake.faults.lost_answers += 2
          else if (luck < 0.4) fake.faults.errors_after += 1
          else if (luck < 0.5) fake.faults.errors_before += 1
          else if (luck < 0.55) fake.faults.throttled += 1
        },
      },
    })
    for (let n = 0; n < MANY; n += 1) {
      await shop.order(`paid-${n}`)
      fake.pay({ payment: `pi_${n}`, amount_minor: 2_000n, order: `paid-${n}` })
      await shop.order(`owed-${n}`)
    }
    await deliverAll(shop, fake)
    for (let n = 0; n < MANY; n += 1) {
      // Two causes ask for each.
      for (const _ of [1, 2]) {
        await shop.operations.refund({ key: `refund-${n}`, payment: `pi_${n}`, amount_minor: 700n })
        await shop.operations.charge({
          key: `charge-${n}`,
          order: `owed-${n}`,
          endpoint: 'stripe',
          customer: 'cus_1',
          method: 'pm_1',
        })
      }
    }
    const workers = [shop.newWorker({ batch: 4 }), shop.newWorker({ batch: 4 })]
    for (let round = 0; round < 18; round += 1) {
      await Promise.all(workers.map((worker) => worker.runOnce()))
      clock.now_ms += HOUR_MS / 2
      if (round % 6 === 5) await deliverAll(shop, fake)
    }
    trouble = false
    Object.assign(fake.faults, { lost_answers: 0, errors_after: 0, errors_before: 0, throttled: 0 })
    await shop.run(6)

    const operations = await shop.operations.list({ limit: 10 * MANY })
    expect(operations).toHaveLength(2 * MANY)
    const done = { refund: doneAtStripe('refund.created'), charge: doneAtStripe('payment_intent.succeeded') }
    for (const times of [...done.refund.values(), ...done.charge.values()]) expect(times).toBe(1)
    const raised = await rows(
      database,
      "select subject_key from exceptions where state = 'open' and subject_kind = 'operation'",
    )
    const keys = await rows(
      database,
      'select o.operation_key, r.provider_key from operations o join operation_requests r on r.operation_id = o.id',
    )
    for (const operation of operations) {
      const sent = keys.filter(({ operation_key }) => operation_key === operation.key)
      const times = [...new Set(sent.map(({ provider_key }) => String(provider_key)))]
        .map((key) => done[operation.kind].get(key) ?? 0)
        .reduce((sum, count) => sum + count, 0)
      expect([operation.key, operation.state, times]).toEqual([
        operation.key,
        operation.state,
        operation.state === 'succeeded' ? 1 : times,
      ])
      expect(times).toBeLessThanOrEqual(1)
      if (operation.state === 'failed_definitive') expect(times).toBe(0)
      if (operation.state === 'unknown') expect(raised).toContainEqual({ subject_key: operation.key })
      expect(['succeeded', 'failed_definitive', 'unknown']).toContain(operation.state)
    }
    // In the end all that could be found out was.
    expect(operations.filter(({ state }) => state !== 'succeeded')).toEqual([])
    expect(await alarms(database)).toEqual([])
    await deliverAll(shop, fake)
    expect(await rows(database, 'select sum(refunded_minor)::text as sum from payments')).toEqual([
      { sum: String(700 * MANY) },
    ])
    expect((await audit(database)).differences).toEqual([])
  }, 600_000)
})
