import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import {
  exceptions,
  gate,
  level,
  oneShot,
  outbox,
  put,
  StandingClock,
  standingWorker,
  states,
} from '../../test/outbox.ts'
import { Fault } from '../facts/fault.ts'
import { notifyEffects } from '../store/queries/notify-effects.ts'
import { supersedeEffects, withdrawEffects } from '../store/queries/withdraw-effects.ts'
import { backoff_ms } from './backoff.ts'
import { discard, giveUp, retryAfter } from './outcome.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

withDatabases('the effects worker', (open) => {
  it('gives a deliverer everything about an effect, and acknowledges what it did', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, level({ order: 7, revision: 3n }))
    const told: OutgoingEffect[] = []
    const worker = standingWorker(clock, { database: db, deliverer: (effect) => told.push(effect) })
    await worker.runOnce()
    const [row] = await outbox(db)
    expect(told).toEqual([
      {
        key: `effect_1_${row!.id}`,
        id: row!.id,
        tenant: 'default',
        topic: 'entitlement.changed',
        lane: 'access',
        item: 'course',
        subject: { kind: 'order', key: 'A-7' },
        order: 'A-7',
        cause: 'revision-3',
        revision: 3,
        epoch: 1n,
        attempt: 1,
        created_at: new Date(Date.UTC(2026, 0, 2)),
        payload: { order: 'A-7', revision: 3 },
      },
    ])
    expect(row).toMatchObject({ state: 'done', attempts: 1, leased: false, last_error: '' })
    expect(worker.snapshot()).toMatchObject({ leased: 1, delivered: 1, failed: 0, running: 0, waiting: 0 })
  })

  it('tries again after a pause when the handler throws, under the same key, and keeps the error', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    const tried: string[] = []
    const worker = standingWorker(clock, {
      database: db,
      deliverer: (effect) => {
        tried.push(`${effect.key} ${effect.attempt}`)
        if (tried.length < 3) throw new Error(`no\0 ${tried.length}`)
      },
    })
    await worker.runOnce()
    expect(await outbox(db)).toMatchObject([{ state: 'due', attempts: 1, last_error: 'no 1', leased: false }])
    clock.advance(backoff_ms(1, 0.5) - 1)
    await worker.runOnce()
    expect(tried).toHaveLength(1)
    clock.advance(1)
    await worker.runOnce()
    clock.advance(backoff_ms(2, 0.5))
    await worker.runOnce()
    const id = (await outbox(db))[0]!.id
    expect(tried).toEqual([`effect_1_${id} 1`, `effect_1_${id} 2`, `effect_1_${id} 3`])
    expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 3, last_error: '' }])
    expect(worker.snapshot()).toMatchObject({ delivered: 1, failed: 2 })
  })

  it('waits as long as a handler asks, at most a day', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }), oneShot({ order: 2 }))
    const deliverer = (effect: OutgoingEffect) =>
      effect.order === 'A-1' ? retryAfter(90_000, 'busy') : retryAfter(1e12)
    await standingWorker(clock, { database: db, deliverer }).runOnce()
    expect(await outbox(db)).toMatchObject([
      { state: 'due', attempts: 1, last_error: 'busy', available_at: new Date(clock.now_ms() + 90_000) },
      { state: 'due', attempts: 1, available_at: new Date(clock.now_ms() + 86_400_000) },
    ])
  })

  it('discards what a handler says need not be done, without telling anyone', async () => {
    const db = await open()
    await put(db, oneShot({ order: 1 }))
    const worker = standingWorker(new StandingClock(), {
      database: db,
      deliverer: () => discard('a test order'),
    })
    await worker.runOnce()
    expect(await outbox(db)).toMatchObject([{ state: 'discarded', last_error: 'a test order' }])
    expect(await exceptions(db)).toEqual([])
    expect(worker.snapshot()).toMatchObject({ discarded: 1, delivered: 0, failed: 0 })
  })

  it('buries at once what a handler gives up, and tells a person', async () => {
    const db = await open()
    await put(db, oneShot({ order: 1 }))
    const deliverer = (effect: OutgoingEffect) =>
      effect.topic === 'receipt.due' ? giveUp('gone') : undefined
    await standingWorker(new StandingClock(), { database: db, deliverer }).runOnce()
    expect(await outbox(db)).toMatchObject([
      { topic: 'receipt.due', state: 'dead', attempts: 1, last_error: 'gone' },
      { topic: 'exception.opened', state: 'done' },
    ])
    expect(await exceptions(db)).toMatchObject([{ kind: 'effect_failed', state: 'open' }])
  })

  it('takes whatever else a handler returns for done', async () => {
    const db = await open()
    await put(db, oneShot({ order: 1 }), oneShot({ order: 2 }))
    const deliverer = async (effect: OutgoingEffect) => (effect.order === 'A-1' ? { type: 'discard' } : null)
    await standingWorker(new StandingClock(), { database: db, deliverer }).runOnce()
    expect(await states(db)).toEqual(['done', 'done'])
  })

  it('counts an attempt that takes too long as failed, and tells it to stop', async () => {
    const db = await open()
    await put(db, oneShot({ order: 1 }))
    let stopped: unknown
    const worker = standingWorker(new StandingClock(), {
      database: db,
      attempt_limit_ms: 1,
      deliverer: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            stopped = signal.reason
          })
        }),
    })
    await worker.runOnce()
    expect(stopped).toMatchObject({ message: 'The attempt took longer than 1 ms.' })
    expect(await outbox(db)).toMatchObject([
      { state: 'due', last_error: 'The attempt took longer than 1 ms.' },
    ])
  })

  it('never sends what was withdrawn, and sends it when it becomes due again', async () => {
    const db = await open()
    const clock = new StandingClock()
    const receipt = oneShot({ order: 1 })
    await put(db, receipt)
    await withdrawEffects(db, 0, clock.now(), [receipt])
    const told: string[] = []
    const worker = standingWorker(clock, { database: db, deliverer: (effect) => told.push(effect.key) })
    await worker.runOnce()
    expect(told).toEqual([])
    await put(db, receipt)
    await worker.runOnce()
    expect(told).toHaveLength(1)
    expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 1 }])
  })

  it('does not send before the time', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1, available_at: new Date(clock.now_ms() + 60_000) }))
    const worker = standingWorker(clock, { database: db, deliverer: () => undefined })
    await worker.runOnce()
    expect(await states(db)).toEqual(['due'])
    clock.advance(60_000)
    await worker.runOnce()
    expect(await states(db)).toEqual(['done'])
  })

  it('sends only the newest of waiting revisions', async () => {
    const db = await open()
    const told: number[] = []
    await put(
      db,
      level({ order: 1, revision: 1n }),
      level({ order: 1, revision: 2n }),
      level({ order: 1, revision: 3n }),
    )
    const worker = standingWorker(new StandingClock(), {
      database: db,
      deliverer: (effect) => told.push(effect.revision),
    })
    await worker.runOnce()
    expect(told).toEqual([3])
    expect(await states(db)).toEqual(['superseded', 'superseded', 'done'])
  })

  it('lets a newer revision pass an older one that waits for its next attempt', async () => {
    const db = await open()
    const clock = new StandingClock()
    const told: number[] = []
    const worker = standingWorker(clock, {
      database: db,
      deliverer: (effect) => {
        told.push(effect.revision)
        if (effect.revision === 1) throw new Error('down')
      },
    })
    await put(db, level({ order: 1, revision: 1n }))
    await worker.runOnce()
    const newer = level({ order: 1, revision: 2n })
    await supersedeEffects(db, 0, clock.now(), [newer])
    await put(db, newer)
    await worker.runOnce()
    clock.advance(86_400_000)
    await worker.runOnce()
    expect(told).toEqual([1, 2])
    expect(await states(db)).toEqual(['superseded', 'done'])
  })

  it('looks for a newer revision just before delivering, not only when it takes', async () => {
    const db = await open()
    const first = gate()
    const told: string[] = []
    await put(db, oneShot({ order: 1 }), level({ order: 2, revision: 1n }))
    const worker = standingWorker(new StandingClock(), {
      database: db,
      concurrency: 1,
      deliverer: async (effect) => {
        told.push(`${effect.topic} ${effect.revision}`)
        if (effect.order !== 'A-1') return
        await put(db, level({ order: 2, revision: 2n }))
        first.open()
      },
    })
    await worker.runOnce()
    await first.opened
    expect(told).toEqual(['receipt.due 0', 'entitlement.changed 2'])
    expect(await states(db)).toEqual(['done', 'superseded', 'done'])
  })

  it('wakes when it is notified', async () => {
    const db = await open()
    const delivered = gate<string>()
    const worker = standingWorker(new StandingClock(), {
      database: db,
      poll_ms: 1_000_000,
      deliverer: (effect) => delivered.open(effect.topic),
    })
    await worker.start()
    try {
      await put(db, oneShot({ order: 1 }))
      await notifyEffects(db)
      expect(await delivered.opened).toBe('receipt.due')
    } finally {
      await worker.stop()
    }
    expect(await states(db)).toEqual(['done'])
  })

  it('finds what is due without a notification', async () => {
    const db = await open()
    const delivered = gate()
    const worker = standingWorker(new StandingClock(), {
      database: db,
      poll_ms: 1,
      deliverer: () => delivered.open(),
    })
    await worker.start()
    try {
      await put(db, oneShot({ order: 1 }))
      await delivered.opened
    } finally {
      await worker.stop()
    }
    expect(await states(db)).toEqual(['done'])
  })

  it('finishes what it delivers when it is stopped, and gives the rest back untried', async () => {
    const db = await open()
    const [begun, finish] = [gate(), gate()]
    await put(db, ...[1, 2, 3].map((order) => oneShot({ order })))
    const worker = standingWorker(new StandingClock(), {
      database: db,
      concurrency: 1,
      deliverer: async () => {
        begun.open()
        await finish.opened
      },
    })
    await worker.start()
    await begun.opened
    const stopped = worker.stop({ drain_ms: 600_000 })
    finish.open()
    expect(await stopped).toEqual({ left: 0 })
    expect(await outbox(db)).toMatchObject([
      { state: 'done', attempts: 1 },
      { state: 'due', attempts: 0, leased: false },
      { state: 'due', attempts: 0, leased: false },
    ])
    expect(worker.snapshot()).toMatchObject({ delivered: 1, given_back: 2 })
  })

  it('leaves what does not end in time to its lease when it is stopped, and tells it to stop', async () => {
    const db = await open()
    const clock = new StandingClock()
    const [begun, finish] = [gate(), gate()]
    let told: unknown
    await put(db, oneShot({ order: 1 }))
    const worker = standingWorker(clock, {
      database: db,
      deliverer: async (_, { signal }) => {
        signal.addEventListener('abort', () => {
          told = signal.reason
        })
        begun.open()
        await finish.opened
      },
    })
    await worker.start()
    await begun.opened
    expect(await worker.stop({ drain_ms: 0 })).toEqual({ left: 1 })
    expect(told).toMatchObject({ message: 'The worker stops.' })
    expect(await outbox(db)).toMatchObject([{ state: 'due', attempts: 1, leased: true }])
    const next = standingWorker(clock, { database: db, deliverer: () => undefined })
    await next.runOnce()
    expect(await states(db)).toEqual(['due'])
    clock.advance(30_000)
    await next.runOnce()
    expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 2 }])
    finish.open()
  })

  it('refuses numbers that make no sense, and to be started twice', async () => {
    const db = await open()
    const deliverer = () => undefined
    expect(() => standingWorker(new StandingClock(), { database: db, deliverer, batch: 0 })).toThrow(Fault)
    const worker = standingWorker(new StandingClock(), { database: db, deliverer })
    await worker.start()
    try {
      await expect(worker.start()).rejects.toMatchObject({ code: 'shutting_down' })
    } finally {
      await worker.stop()
    }
  })

  it('takes the time of the database when it is given no clock', async () => {
    const db = await open()
    await put(
      db,
      oneShot({ order: 1 }),
      oneShot({ order: 2, available_at: new Date(Date.now() + 3_600_000) }),
    )
    const { EffectsWorker } = await import('./worker.ts')
    await new EffectsWorker({ database: db, deliverer: () => undefined }).runOnce()
    expect(await states(db)).toEqual(['done', 'due'])
  })
})
