import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import {
  exceptions,
  level,
  oneShot,
  outbox,
  put,
  StandingClock,
  standingWorker,
  states,
} from '../../test/outbox.ts'
import { type LeasedEffect, leaseEffects } from '../store/queries/lease-effects.ts'
import { supersedeEffects } from '../store/queries/withdraw-effects.ts'
import { bury } from './bury.ts'
import { discardEffect, retryEffect } from './decide-effect.ts'
import { giveUp } from './outcome.ts'
import { asOutgoing, type OutgoingEffect } from './outgoing-effect.ts'

const decision = { actor: 'ada', reason: 'the receiver is mended' }

withDatabases('effects that fail', (open) => {
  it('P34 case-57 one that always fails holds nobody else back, is dead after the limit with one alert, and can be retried', async () => {
    const db = await open()
    const clock = new StandingClock()
    const batch = Array.from({ length: 50 }, (_, index) => oneShot({ order: index + 1 }))
    // Item 20 belongs to the same order as item 3.
    batch[19] = oneShot({ order: 3, seq: 2n, cause: 'second' })
    await put(db, ...batch)
    const poison = (await outbox(db))[2]!.id
    let mended = false
    const alerts: unknown[] = []
    const worker = standingWorker(clock, {
      database: db,
      attempts_max: 5,
      deliverer: (effect) => {
        if (effect.id === poison && !mended) throw new Error('poison')
        if (effect.topic === 'exception.opened') alerts.push(effect.payload)
      },
    })
    await worker.runOnce()
    const waiting = (await outbox(db)).filter((row) => row.state !== 'done')
    expect(waiting).toMatchObject([
      { id: poison, attempts: 1 },
      { cause: 'second', attempts: 0 },
    ])
    for (let attempt = 2; attempt <= 5; attempt++) {
      clock.advance(3_600_000)
      await worker.runOnce()
    }
    const [dead, ...rest] = (await outbox(db)).sort((row) => (row.id === poison ? -1 : 1))
    expect(dead).toMatchObject({ state: 'dead', attempts: 5, last_error: 'poison' })
    expect(new Set(rest.map((row) => row.state))).toEqual(new Set(['done']))
    expect(alerts).toMatchObject([{ kind: 'effect_failed', subject_kind: 'effect', subject: String(poison) }])
    expect(await exceptions(db)).toMatchObject([
      { kind: 'effect_failed', state: 'open', severity: 'warning' },
    ])
    expect(worker.snapshot()).toMatchObject({ dead: 1, failed: 5, delivered: 50 })

    mended = true
    await retryEffect(db, { ...decision, id: poison, now: clock.now() })
    expect(await exceptions(db)).toMatchObject([{ state: 'closed' }])
    await worker.runOnce()
    expect((await outbox(db)).find((row) => row.id === poison)).toMatchObject({ state: 'done', attempts: 6 })
    expect(alerts).toHaveLength(1)
  })

  it('gives a retried one a whole round of attempts, and tells a person again when it fails again', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    let tried = 0
    const worker = standingWorker(clock, {
      database: db,
      attempts_max: 3,
      deliverer: (effect) => {
        if (effect.topic !== 'receipt.due') return
        tried += 1
        throw new Error('down')
      },
    })
    const untilDead = async () => {
      for (let pass = 0; pass < 5; pass++) {
        await worker.runOnce()
        clock.advance(3_600_000)
      }
    }
    await untilDead()
    expect(tried).toBe(3)
    await retryEffect(db, { ...decision, id: (await outbox(db))[0]!.id, now: clock.now() })
    await untilDead()
    expect(tried).toBe(6)
    expect(await exceptions(db)).toMatchObject([{ state: 'open', occurrence: 2 }])
    const alerts = (await outbox(db)).filter((row) => row.topic === 'exception.opened')
    expect(alerts).toMatchObject([{ state: 'done' }, { state: 'done' }])
  })

  it('raises an exception about a dead alert that alerts nobody', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    const worker = standingWorker(clock, {
      database: db,
      attempts_max: 2,
      deliverer: () => giveUp('all is lost'),
    })
    for (let pass = 0; pass < 5; pass++) {
      await worker.runOnce()
      clock.advance(86_400_000)
    }
    const rows = await outbox(db)
    expect(rows).toMatchObject([
      { topic: 'receipt.due', state: 'dead' },
      { topic: 'exception.opened', state: 'dead' },
    ])
    expect(await exceptions(db)).toMatchObject(
      rows.map((row) => ({ subject_key: String(row.id), state: 'open' })),
    )
  })

  it('keeps what the last error said out of the message to a person', async () => {
    const db = await open()
    await put(db, level({ order: 1, revision: 1n }))
    const deliverer = () => giveUp('no mailbox for ada@example.org')
    await standingWorker(new StandingClock(), { database: db, deliverer }).runOnce()
    const [exception] = await exceptions(db)
    expect(exception).toMatchObject({ severity: 'urgent' })
    expect(exception!.message).toMatch(
      /^entitlement\.changed \(order course of A-1\) could not be delivered in 1 attempts/,
    )
    expect(exception!.message).not.toContain('ada@example.org')
  })

  it('buries one that kills its worker at every attempt, without another attempt', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    for (let crash = 1; crash <= 3; crash++) {
      await leaseAndDie()
      clock.advance(30_000)
    }
    const told: string[] = []
    const worker = standingWorker(clock, {
      database: db,
      attempts_max: 3,
      deliverer: (effect) => told.push(effect.topic),
    })
    await worker.runOnce()
    expect(told).toEqual(['exception.opened'])
    expect((await outbox(db))[0]).toMatchObject({
      state: 'dead',
      attempts: 3,
      last_error: 'The worker ended during the last attempt.',
    })

    async function leaseAndDie() {
      const until = new Date(clock.now_ms() + 30_000)
      const taken = await leaseEffects(db, 0, { now: clock.now(), until, token: randomUUID(), limit: 10 })
      expect(taken).toHaveLength(1)
    }
  })

  it('does not retry a dead level effect that a newer revision has overtaken, and closes its exception when that arrives', async () => {
    const db = await open()
    const clock = new StandingClock()
    const deliverer = (effect: OutgoingEffect) => (effect.revision === 1 ? giveUp('refused') : undefined)
    const worker = standingWorker(clock, { database: db, deliverer })
    await put(db, level({ order: 1, revision: 1n }))
    await worker.runOnce()
    await put(db, level({ order: 1, revision: 2n }))
    const { id } = (await outbox(db))[0]!
    await expect(retryEffect(db, { ...decision, id, now: clock.now() })).rejects.toMatchObject({
      code: 'effect_not_retriable',
    })
    expect(await exceptions(db)).toMatchObject([{ state: 'open' }])
    await worker.runOnce()
    expect(await exceptions(db)).toMatchObject([{ state: 'closed' }])
    expect((await outbox(db)).filter((row) => row.topic === 'entitlement.changed')).toMatchObject([
      { state: 'superseded' },
      { state: 'done' },
    ])
  })

  it('supersedes rather than buries what a newer revision overtook during its last attempt', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, level({ order: 1, revision: 1n }))
    const worker = standingWorker(clock, {
      database: db,
      attempts_max: 1,
      deliverer: async (effect) => {
        if (effect.revision === 2) return
        const newer = level({ order: 1, revision: 2n })
        await supersedeEffects(db, 0, clock.now(), [newer])
        await put(db, newer)
        throw new Error('down')
      },
    })
    await worker.runOnce()
    expect(await states(db)).toEqual(['superseded', 'done'])
    expect(await exceptions(db)).toEqual([])
  })

  it('discards a dead one with a reason, and takes back the alert that nobody got yet', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    const row = await lease(clock)
    const { id } = row
    await bury(db, hold(row), clock.now(), { last_error: 'down', untried: false })
    await discardEffect(db, { actor: 'ada', reason: 'sent by hand', id, now: clock.now() })
    expect(await outbox(db)).toMatchObject([
      { state: 'discarded', last_error: 'Discarded by ada: sent by hand', attempts: 1 },
      { topic: 'exception.opened', state: 'withdrawn' },
    ])
    expect(await exceptions(db)).toMatchObject([{ state: 'closed' }])

    async function lease(clock: StandingClock): Promise<LeasedEffect> {
      const until = new Date(clock.now_ms() + 30_000)
      const [row] = await leaseEffects(db, 0, { now: clock.now(), until, token, limit: 1 })
      return row!
    }
  })

  it('retries at once what waits for its next attempt', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    let down = true
    const worker = standingWorker(clock, {
      database: db,
      deliverer: () => {
        if (down) throw new Error('down')
      },
    })
    await worker.runOnce()
    down = false
    await worker.runOnce()
    expect(await states(db)).toEqual(['due'])
    await retryEffect(db, { ...decision, id: (await outbox(db))[0]!.id, now: clock.now() })
    await worker.runOnce()
    expect(await states(db)).toEqual(['done'])
  })

  it('refuses decisions without a reason, about nothing, or about what is done or out', async () => {
    const db = await open()
    const clock = new StandingClock()
    const now = clock.now()
    await put(db, oneShot({ order: 1 }), oneShot({ order: 2 }))
    const [first, second] = (await outbox(db)).map(({ id }) => id) as [bigint, bigint]
    const refused: unknown[] = []
    const worker = standingWorker(clock, {
      database: db,
      deliverer: async ({ id }) => {
        for (const decide of [retryEffect, discardEffect]) {
          await decide(db, { ...decision, id, now }).catch((error) => refused.push(error.code))
        }
      },
    })
    await worker.runOnce()
    expect(refused).toEqual(Array(4).fill('effect_not_retriable'))
    for (const decide of [retryEffect, discardEffect]) {
      await expect(decide(db, { ...decision, id: first, now })).rejects.toMatchObject({
        message: `Effect ${first} is done and cannot be ${decide === retryEffect ? 'retried' : 'discarded'}.`,
      })
      await expect(decide(db, { ...decision, id: -1n, now })).rejects.toMatchObject({ code: 'not_found' })
      await expect(decide(db, { ...decision, id: second, reason: ' ', now })).rejects.toMatchObject({
        code: 'effect_not_retriable',
      })
    }
  })
})

const token = randomUUID()

function hold(row: LeasedEffect) {
  const effect = asOutgoing(row, 1n)
  return {
    bucket: 0,
    row,
    effect,
    token,
    abort: new AbortController(),
    lease_end_ms: 0,
    ended: false,
    lost: false,
  }
}
