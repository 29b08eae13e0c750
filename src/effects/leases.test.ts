import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { withDatabases, withPostgres } from '../../test/database.ts'
import { gate, oneShot, outbox, put, StandingClock, standingWorker, states } from '../../test/outbox.ts'
import type { Database, Statement, Transaction } from '../store/database.ts'
import { lockEffect } from '../store/queries/decide-effect.ts'
import { leaseEffects } from '../store/queries/lease-effects.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

const ten = Array.from({ length: 10 }, (_, index) => oneShot({ order: index + 1 }))

withDatabases('leases', (open) => {
  it('case-53 a lease shorter than the batch: each of ten messages is delivered once, by whichever of two workers', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, ...ten)
    const delivered: string[] = []
    let renewed_ms = clock.now_ms()
    const common = { database: db, lease_ms: 120_000, concurrency: 1, batch: 10 }
    const second = standingWorker(clock, { ...common, deliverer: ({ key }) => delivered.push(key) })
    const first = standingWorker(clock, {
      ...common,
      deliverer: async ({ key }) => {
        clock.advance(15_000)
        if (clock.now_ms() - renewed_ms >= 40_000) {
          renewed_ms = clock.now_ms()
          await first.renewLeases()
        }
        await second.runOnce()
        delivered.push(key)
      },
    })
    await first.runOnce()
    await second.runOnce()
    expect(new Set(delivered).size).toBe(10)
    expect(delivered).toHaveLength(10)
    expect(await outbox(db)).toMatchObject(ten.map(() => ({ state: 'done', attempts: 1 })))
    expect(first.snapshot()).toMatchObject({ lost_leases: 0 })
    expect(second.snapshot()).toMatchObject({ lost_leases: 0 })
    expect(first.snapshot().delivered).toBeGreaterThan(1)
    expect(second.snapshot().delivered).toBeGreaterThan(1)
  })

  it('case-53 does not begin what its lease no longer covers', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, ...ten)
    const attempts: number[] = []
    const worker = standingWorker(clock, {
      database: db,
      lease_ms: 30_000,
      concurrency: 1,
      batch: 10,
      deliverer: ({ attempt }) => {
        attempts.push(attempt)
        clock.advance(10_000)
      },
    })
    await worker.runOnce()
    expect(attempts).toEqual(Array(10).fill(1))
    expect(worker.snapshot()).toMatchObject({ delivered: 10, lost_leases: 0, given_back: 12 })
    expect(await states(db)).toEqual(Array(10).fill('done'))
  })

  it('keeps the lease of a long delivery alive, so that nobody else begins it', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    const [begun, finish] = [gate(), gate()]
    const first = standingWorker(clock, {
      database: db,
      deliverer: async () => {
        begun.open()
        await finish.opened
      },
    })
    const others: string[] = []
    const second = standingWorker(clock, { database: db, deliverer: ({ key }) => others.push(key) })
    const running = first.runOnce()
    await begun.opened
    for (let renewals = 0; renewals < 5; renewals++) {
      clock.advance(29_000)
      await first.renewLeases()
      await second.runOnce()
    }
    finish.open()
    await running
    expect(others).toEqual([])
    expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 1 }])
    expect(first.errors).toEqual([])
  })

  it('case-53 refuses and counts the acknowledgement of a worker whose lease was taken over', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    const [begun, finish] = [gate(), gate()]
    const paused = standingWorker(clock, {
      database: db,
      deliverer: async () => {
        begun.open()
        await finish.opened
        throw new Error('too late')
      },
    })
    const keys: string[] = []
    const running = paused.runOnce()
    await begun.opened
    clock.advance(30_000)
    await standingWorker(clock, { database: db, deliverer: ({ key }) => keys.push(key) }).runOnce()
    finish.open()
    await running
    expect(keys).toHaveLength(1)
    expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 2, last_error: '' }])
    expect(paused.snapshot()).toMatchObject({ lost_leases: 1, delivered: 0 })
    expect(paused.errors).toMatchObject([{ message: 'too late' }, { code: 'lease_lost' }])
  })

  it.each(['acknowledgement', 'renewal'])(
    'leaves the lease of the worker that took over alone: a late %s changes nothing',
    async (late) => {
      const db = await open()
      const clock = new StandingClock()
      await put(db, oneShot({ order: 1 }))
      const gates = [gate(), gate(), gate(), gate()] as const
      const [pausedBegan, pausedGoesOn, otherBegan, otherGoesOn] = gates
      const paused = standingWorker(clock, {
        database: db,
        deliverer: async () => {
          pausedBegan.open()
          await pausedGoesOn.opened
        },
      })
      const other = standingWorker(clock, {
        database: db,
        deliverer: async () => {
          otherBegan.open()
          await otherGoesOn.opened
        },
      })
      const running = [paused.runOnce()]
      await pausedBegan.opened
      clock.advance(30_000)
      running.push(other.runOnce())
      await otherBegan.opened
      const held = await outbox(db)
      clock.advance(1_000)
      if (late === 'renewal') await paused.renewLeases()
      pausedGoesOn.open()
      await running[0]
      expect(await outbox(db)).toEqual(held)
      expect(paused.snapshot()).toMatchObject({ lost_leases: 1, delivered: 0 })
      otherGoesOn.open()
      await running[1]
      expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 2 }])
      expect(other.snapshot()).toMatchObject({ lost_leases: 0, delivered: 1 })
    },
  )

  it('tells a delivery whose lease was taken over to stop, as soon as it is known', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    const begun = gate()
    const paused = standingWorker(clock, {
      database: db,
      deliverer: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          begun.open()
        }),
    })
    const running = paused.runOnce()
    await begun.opened
    clock.advance(30_000)
    await standingWorker(clock, { database: db, deliverer: () => undefined }).runOnce()
    await paused.renewLeases()
    await running
    expect(paused.snapshot()).toMatchObject({ lost_leases: 1, failed: 0 })
    expect(await states(db)).toEqual(['done'])
  })

  it('does not take what is acknowledged while its renewal waits for a lost lease', async () => {
    const db = await open()
    await put(db, ...ten)
    const renewals: Promise<void>[] = []
    const worker = standingWorker(new StandingClock(), {
      database: new Tapped(db, 'finish-effects', () => {
        renewals.push(worker.renewLeases())
      }),
      deliverer: () => undefined,
    })
    await worker.runOnce()
    await Promise.all(renewals)
    expect(renewals.length).toBeGreaterThan(0)
    expect(worker.snapshot()).toMatchObject({ delivered: 10, lost_leases: 0 })
  })

  it('takes each row for one of many workers that take at the same time', async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, ...Array.from({ length: 60 }, (_, index) => oneShot({ order: index + 1 })))
    const request = { now: clock.now(), until: new Date(clock.now_ms() + 30_000), limit: 20 }
    const taken = await Promise.all(
      Array.from({ length: 6 }, () => leaseEffects(db, 0, { ...request, token: randomUUID() })),
    )
    const ids = taken.flat().map((row) => row.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect((await outbox(db)).filter((row) => row.leased)).toHaveLength(ids.length)
  })

  it('repeats an acknowledgement until the database takes it, instead of delivering again', async () => {
    const db = await open()
    await put(db, oneShot({ order: 1 }))
    const flaky = new Tapped(db, 'finish-effects', awayFor(3))
    const keys: string[] = []
    const worker = standingWorker(new StandingClock(), {
      database: flaky,
      poll_ms: 1,
      deliverer: ({ key }) => keys.push(key),
    })
    await worker.runOnce()
    expect(keys).toHaveLength(1)
    expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 1 }])
    expect(worker.snapshot()).toMatchObject({ delivered: 1, database_errors: 3, lost_leases: 0 })
  })

  it('goes on looking after the database was away', async () => {
    const db = await open()
    await put(db, oneShot({ order: 1 }))
    const delivered = gate<string>()
    const worker = standingWorker(new StandingClock(), {
      database: new Tapped(db, 'lease-effects', awayFor(3)),
      poll_ms: 1,
      deliverer: ({ topic }) => delivered.open(topic),
    })
    await worker.start()
    try {
      expect(await delivered.opened).toBe('receipt.due')
    } finally {
      await worker.stop()
    }
    expect(worker.snapshot()).toMatchObject({ delivered: 1, database_errors: 3 })
  })
})

withPostgres('the connections of a worker', (open) => {
  it('passes by a row that someone has locked', async () => {
    const db = await open()
    await put(db, oneShot({ order: 1 }), oneShot({ order: 2 }))
    const transaction = await db.begin()
    try {
      await lockEffect(transaction, 0, (await outbox(db))[0]!.id)
      const own = await open({ apart: true, max: 2, settings: { lock_timeout: '5s' } })
      await standingWorker(new StandingClock(), { database: own, deliverer: () => undefined }).runOnce()
    } finally {
      await transaction.rollback()
    }
    expect(await states(db)).toEqual(['due', 'done'])
  })

  it('case-56 slow receivers hold no connection: neither the front door nor the worker waits for one', async () => {
    const front = await open()
    const own = await open({ apart: true, max: 2, name: 'effects' })
    const clock = new StandingClock()
    await put(front, ...Array.from({ length: 50 }, (_, index) => oneShot({ order: index + 1 })))
    const [all, finish] = [gate(), gate()]
    const begun = new Set<string>()
    const worker = standingWorker(clock, {
      database: own,
      concurrency: 50,
      batch: 50,
      deliverer: async (effect: OutgoingEffect) => {
        begun.add(effect.key)
        if (begun.size === 50) all.open()
        await finish.opened
      },
    })
    const running = worker.runOnce()
    await all.opened
    const transactions = await Promise.all(Array.from({ length: 10 }, () => front.begin()))
    const both = await Promise.all([own.begin(), own.begin()])
    for (const transaction of [...transactions, ...both]) await transaction.rollback()
    expect(worker.snapshot()).toMatchObject({ running: 50, delivered: 0 })
    finish.open()
    await running
    expect(worker.snapshot()).toMatchObject({ running: 0, delivered: 50, lost_leases: 0 })
    expect(await states(front)).toEqual(Array(50).fill('done'))
  })
})

/** Fails the first so many times. */
function awayFor(failures: number): () => void {
  let left = failures
  return () => {
    if (left-- > 0) throw new Error('the database is away')
  }
}

/** A database that does something before each run of one statement. */
class Tapped implements Database {
  readonly #db: Database
  readonly #name: string
  readonly #before: () => void

  constructor(db: Database, name: string, before: () => void) {
    this.#db = db
    this.#name = name
    this.#before = before
  }

  get driver() {
    return this.#db.driver
  }
  get concurrency() {
    return this.#db.concurrency
  }
  get schema() {
    return this.#db.schema
  }
  get user_search_path() {
    return this.#db.user_search_path
  }

  async query<Row>(...given: Parameters<Database['query']>): Promise<Row[]> {
    const [statement] = given as [Statement]
    if (statement.name === this.#name) this.#before()
    return this.#db.query<Row>(...given)
  }
  begin(options?: Parameters<Database['begin']>[0]): Promise<Transaction> {
    return this.#db.begin(options)
  }
  script(sql: string): Promise<void> {
    return this.#db.script(sql)
  }
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
    return this.#db.listen(channel, heard)
  }
  close(): Promise<void> {
    return this.#db.close()
  }
}
