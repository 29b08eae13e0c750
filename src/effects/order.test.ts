import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import {
  gate,
  level,
  type OutboxRow,
  oneShot,
  outbox,
  put,
  StandingClock,
  standingWorker,
  states,
} from '../../test/outbox.ts'
import type { Database } from '../store/database.ts'
import type { NewEffect } from '../store/queries/insert-effects.ts'
import { leaseEffects } from '../store/queries/lease-effects.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

withDatabases('the order of effects', (open) => {
  it('P34 keeps the order of a subject within a lane, and holds back no other lane and no other subject', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(
      db,
      level({ order: 1, revision: 1n, item: 'a', seq: 1n }),
      level({ order: 1, revision: 1n, item: 'b', seq: 2n }),
      oneShot({ order: 1, seq: 3n }),
      level({ order: 2, revision: 1n, item: 'a', seq: 1n }),
    )
    let down = true
    const told: string[] = []
    const worker = standingWorker(clock, {
      database: db,
      deliverer: (effect) => {
        if (down && effect.order === 'A-1' && effect.item === 'a') throw new Error('down')
        told.push(`${effect.order} ${effect.topic} ${effect.item}`)
      },
    })
    await worker.runOnce()
    expect(told.splice(0).sort()).toEqual(['A-1 receipt.due -', 'A-2 entitlement.changed a'])
    down = false
    clock.advance(3_600_000)
    await worker.runOnce()
    expect(told).toEqual(['A-1 entitlement.changed a', 'A-1 entitlement.changed b'])
  })

  it('lets the next of a lane go when the one before it is dead', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(
      db,
      oneShot({ order: 1, seq: 1n, cause: 'first' }),
      oneShot({ order: 1, seq: 2n, cause: 'second' }),
    )
    const worker = standingWorker(clock, {
      database: db,
      attempts_max: 1,
      deliverer: (effect) => {
        if (effect.cause === 'first') throw new Error('down')
      },
    })
    await worker.runOnce()
    expect((await states(db)).slice(0, 2)).toEqual(['dead', 'done'])
  })

  it('does not let a newer revision go while an older one of its item is being delivered', async () => {
    const db = await open()
    const clock = new StandingClock()
    const [begun, finish] = [gate(), gate()]
    const told: string[] = []
    const deliverer = async ({ revision }: OutgoingEffect) => {
      told.push(`begin ${revision}`)
      begun.open()
      if (revision === 1) await finish.opened
      told.push(`end ${revision}`)
    }
    await put(db, level({ order: 1, revision: 1n }))
    const first = standingWorker(clock, { database: db, deliverer })
    const second = standingWorker(clock, { database: db, deliverer })
    const running = first.runOnce()
    await begun.opened
    await put(db, level({ order: 1, revision: 2n }))
    await second.runOnce()
    finish.open()
    await running
    await second.runOnce()
    expect(told).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2'])
    expect(await states(db)).toEqual(['done', 'done'])
  })

  it('does not hold back alerts, which have no order among them', async () => {
    const db = await open()
    const clock = new StandingClock()
    const alert = { order: 1, topic: 'exception.opened', lane: 'alerts', seq: 0n }
    await put(db, oneShot({ ...alert, cause: 'first' }), oneShot({ ...alert, cause: 'second' }))
    const worker = standingWorker(clock, {
      database: db,
      deliverer: (effect) => {
        if (effect.cause === 'first') throw new Error('down')
      },
    })
    await worker.runOnce()
    expect(await states(db)).toEqual(['due', 'done'])
  })

  it('P34 keeps order per lane, loses nothing that is due and ends on the newest revision, whatever fails and crashes', async () => {
    const db = await open()
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        await clear(db)
        const told = await play(db, history)
        const rows = (await outbox(db)).filter((row) => row.topic !== 'exception.opened')
        expect(rows).toHaveLength(history.effects.length)
        for (const row of rows) {
          const mine = told.filter((one) => one.id === row.id)
          expect(['done', 'dead', 'superseded']).toContain(row.state)
          if (row.state === 'done') expect(mine.filter((one) => one.well)).toHaveLength(1)
          // More when a worker died between taking it for burial and burying it.
          if (row.state === 'dead') expect(row.attempts).toBeGreaterThanOrEqual(ATTEMPTS_MAX)
          if (row.state === 'superseded') expect(rows.some((other) => isNewerOf(other, row))).toBe(true)
          if (row.state !== 'done') expect(mine.filter((one) => one.well)).toEqual([])
        }
      }),
      { numRuns: 12 },
    )
  })
})

const ATTEMPTS_MAX = 3

interface Planned {
  readonly order: number
  readonly kind: 'receipt' | 'notice' | 'right'
  readonly failures: number
}

interface History {
  readonly effects: readonly Planned[]
  /** Written in between, or a step of the workers: both at once, or one that takes and dies. */
  readonly steps: readonly ('write' | 'work' | 'crash')[]
}

const histories: fc.Arbitrary<History> = fc.record({
  effects: fc.array(
    fc.record({
      order: fc.integer({ min: 1, max: 3 }),
      kind: fc.constantFrom('receipt', 'notice', 'right'),
      failures: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 1, maxLength: 9 },
  ),
  steps: fc.array(fc.constantFrom('write', 'work', 'work', 'crash'), { maxLength: 14 }),
})

interface Told {
  readonly id: bigint
  readonly well: boolean
}

/** Plays a history to its end and gives every delivery; fails where one broke the order of its lane. */
async function play(db: Database, history: History): Promise<Told[]> {
  const clock = new StandingClock()
  const told: Told[] = []
  const violations: string[] = []
  const failures = new Map<string, number>()
  const out = new Set<bigint>()
  const deliverer = async (effect: OutgoingEffect) => {
    // Gathered, since a worker takes what a deliverer throws for a failed attempt.
    if (out.has(effect.id)) violations.push(`${effect.key} was out twice at once`)
    out.add(effect.id)
    for (const row of await heldBackBy(db, effect)) violations.push(`${effect.key} went before ${row.id}`)
    out.delete(effect.id)
    const name = `${effect.order} ${effect.cause}`
    const left = failures.get(name) ?? 0
    failures.set(name, left - 1)
    told.push({ id: effect.id, well: left <= 0 })
    if (left > 0) throw new Error('down')
  }
  const options = { database: db, deliverer, attempts_max: ATTEMPTS_MAX, concurrency: 3, batch: 2 }
  const workers = [standingWorker(clock, options), standingWorker(clock, options)]
  const work = () => Promise.all(workers.map((worker) => worker.runOnce()))

  const unwritten = history.effects.map((planned, place) => [planned, place + 1] as const)
  const writeNext = async () => {
    const [planned, seq] = unwritten.shift() ?? []
    if (!planned) return
    const effect = asEffect(planned, BigInt(seq!))
    failures.set(`${effect.subject_key} ${effect.cause}`, planned.failures)
    await put(db, effect)
  }
  for (const step of history.steps) {
    if (step === 'write') await writeNext()
    if (step === 'work') await work()
    if (step === 'crash') await takeAndDie(db, clock)
    clock.advance(7_000)
  }
  while (unwritten.length > 0) await writeNext()
  for (let pass = 0; pass < 4 * ATTEMPTS_MAX * history.effects.length; pass++) {
    await work()
    clock.advance(3_600_000)
    if (!(await states(db)).includes('due')) break
  }
  expect(violations).toEqual([])
  for (const worker of workers) expect(worker.snapshot().lost_leases).toBe(0)
  return told
}

/** What is due and earlier in its subject's lane, save older revisions of the very same item. */
async function heldBackBy(db: Database, effect: OutgoingEffect): Promise<OutboxRow[]> {
  const rows = await outbox(db)
  const own = rows.find((row) => row.id === effect.id)!
  const earlier = rows.filter(
    (row) =>
      row.order === own.order &&
      row.lane === own.lane &&
      row.state === 'due' &&
      own.seq > 0n &&
      row.seq < own.seq,
  )
  return earlier.filter((row) => !isNewerOf(own, row))
}

function isNewerOf(
  one: { order: string; topic: string; item: string; revision: bigint },
  other: { order: string; topic: string; item: string; revision: bigint },
): boolean {
  const same = one.order === other.order && one.topic === other.topic && one.item === other.item
  return same && other.revision > 0n && one.revision > other.revision
}

function asEffect({ order, kind }: Planned, seq: bigint): NewEffect {
  if (kind === 'right') return level({ order, revision: seq, seq })
  return oneShot({ order, seq, cause: `cause-${seq}`, lane: kind === 'receipt' ? 'messages' : 'money' })
}

async function takeAndDie(db: Database, clock: StandingClock): Promise<void> {
  const until = new Date(clock.now_ms() + 5_000)
  await leaseEffects(db, 0, { now: clock.now(), until, token: randomUUID(), limit: 2 })
}

async function clear(db: Database): Promise<void> {
  await db.script('delete from effects; delete from exceptions')
}
