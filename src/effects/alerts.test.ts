import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { outbox, StandingClock, standingWorker, states } from '../../test/outbox.ts'
import type { Severity } from '../facts/exception.ts'
import type { Database } from '../store/database.ts'
import { closeOpenExceptions, openExceptions } from '../store/exception-alerts.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
import { type AlertOptions, alerts, readAlerts } from './alerts.ts'
import { type Alert, alertsOf } from './alerts-text.ts'
import type { Deliverer } from './outcome.ts'
import type { EffectsWorkerOptions } from './worker.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

withDatabases('alerts', (open) => {
  let database: Database
  let clock: StandingClock
  /** Every message that reached somebody: whom, and about which subjects. */
  let told: string[]

  beforeEach(async () => {
    database = await open()
    clock = new StandingClock()
    told = []
  })

  const to =
    (name: string): Deliverer =>
    (effect) => {
      const subjects = alertsOf(effect).map(({ subject }: Alert) => subject)
      told.push(`${name}: ${subjects.join(' ')}`)
    }

  function about(subject_key: string, given: Partial<NewException> = {}): NewException {
    return {
      tenant: 'default',
      subject_kind: 'order',
      subject_id: BigInt(subject_key.replaceAll(/\D/g, '') || 0),
      subject_key,
      kind: 'underpayment',
      cause: '-',
      origin: 'rules',
      severity: 'warning',
      message: `Order ${subject_key} is owing.`,
      alert_at: clock.now(),
      ...given,
    }
  }

  const raise = (...raised: NewException[]) => openExceptions(database, 0, clock.now(), raised)
  const close = async (exception: NewException) => {
    const standing = await loadOpenExceptions(database, 0, 'rules', [exception])
    await closeOpenExceptions(database, 0, clock.now(), standing)
  }

  function working(
    options: Omit<AlertOptions, 'routes'> & Partial<AlertOptions> = {},
    worker: Partial<EffectsWorkerOptions> = {},
  ) {
    const deliverer = alerts(
      { routes: [{ to: to('all') }], ...options },
      { database, buckets: 1, now_ms: clock.now_ms, otherwise: to('otherwise') },
    )
    return standingWorker(clock, { database, deliverer, ...worker })
  }

  async function work(worker = working()) {
    await worker.runOnce()
    expect(worker.errors).toEqual([])
  }

  it('P42 go the first way that matches, by severity and kind, and else where effects go', async () => {
    const worker = working({
      digest: false,
      routes: [
        { to: to('disputes'), kinds: ['dispute_opened', 'dispute_deadline'] },
        { to: to('pager'), severity: 'urgent' },
        { to: to('mail'), severity: 'warning' },
      ],
    })
    await raise(
      about('A-1'),
      about('A-2', { severity: 'urgent' }),
      about('A-3', { severity: 'urgent', kind: 'dispute_opened' }),
      about('A-4', { severity: 'notice' }),
    )
    await work(worker)
    expect(told.sort()).toEqual(['disputes: A-3', 'mail: A-1', 'otherwise: A-4', 'pager: A-2'])
    expect(await states(database)).toEqual(['done', 'done', 'done', 'done'])
  })

  it('P42 tell each of a few alone, at once', async () => {
    await raise(about('A-1'), about('A-2'))
    await work()
    clock.advance(MINUTE_MS)
    await raise(about('A-3'))
    await work()
    expect(told.sort()).toEqual(['all: A-1', 'all: A-2', 'all: A-3'])
  })

  it('P42 that come together in a crowd are one message', async () => {
    const names = Array.from({ length: 60 }, (_, place) => `A-${place + 1}`)
    await raise(...names.map((name) => about(name)))
    const worker = working()
    await work(worker)
    // Told at once where one delivery has them all; else whoever tells them waits until nobody has any of them in hand.
    clock.advance(2 * SECOND_MS)
    await work(worker)
    expect(told).toHaveLength(1)
    expect(told[0]!.slice('all: '.length).split(' ').sort()).toEqual(names.sort())
    expect(new Set(await states(database))).toEqual(new Set(['done']))
    expect((await outbox(database)).every(({ attempts }) => attempts === 1)).toBe(true)
  })

  it('P42 that go on coming are a few messages and then one per window; urgent ones wait a minute at most', async () => {
    const worker = working({ digest: { more_than: 3, within_ms: 10 * MINUTE_MS } })
    for (let order = 1; order <= 20; order += 1) {
      await raise(about(`A-${order}`))
      await work(worker)
      clock.advance(10 * SECOND_MS)
    }
    expect(told).toEqual(['all: A-1', 'all: A-2', 'all: A-3'])
    await raise(about('A-99', { severity: 'urgent' }))
    await work(worker)
    clock.advance(MINUTE_MS)
    await work(worker)
    clock.advance(10 * SECOND_MS)
    await work(worker)
    expect(told).toHaveLength(4)
    expect(told[3]).toMatch(/^all: A-99 .*A-20/)
    expect(new Set(await states(database))).toEqual(new Set(['done']))
  })

  it('are taken back unseen when they explain themselves while they wait', async () => {
    const worker = working({ quiet: { from: '11:00', to: '13:00', zone: 'UTC' } })
    await raise(about('A-1'), about('A-2'))
    await work(worker)
    await close(about('A-1'))
    clock.advance(HOUR_MS)
    await work(worker)
    expect(told).toEqual(['all: A-2'])
    expect((await states(database)).sort()).toEqual(['done', 'withdrawn'])
  })

  it('P42 wait for the end of quiet hours without using up attempts, unless they are urgent', async () => {
    const worker = working(
      { quiet: { from: '13:00', to: '07:00', zone: 'Europe/Berlin' } },
      { attempts_max: 1 },
    )
    await raise(about('A-1'), about('A-2', { severity: 'notice' }), about('A-3', { severity: 'urgent' }))
    await work(worker)
    expect(told).toEqual(['all: A-3'])
    for (let hour = 0; hour < 17; hour += 1) {
      clock.advance(HOUR_MS)
      await work(worker)
    }
    expect(told).toEqual(['all: A-3'])
    // 06:00 UTC is 07:00 in Berlin in January.
    clock.advance(HOUR_MS)
    await work(worker)
    clock.advance(2 * SECOND_MS)
    await work(worker)
    expect(told).toHaveLength(2)
    expect(told[1]!.split(' ').sort()).toEqual(['A-1', 'A-2', 'all:'])
  })

  it('a crowd at night tells of what is urgent alone', async () => {
    const worker = working({ quiet: { from: '11:00', to: '13:00', zone: 'UTC' }, digest: { more_than: 1 } })
    const severities: Severity[] = ['urgent', 'warning', 'urgent', 'notice', 'urgent']
    await raise(...severities.map((severity, place) => about(`A-${place + 1}`, { severity })))
    await work(worker)
    clock.advance(2 * SECOND_MS)
    await work(worker)
    expect(told).toHaveLength(1)
    expect(told[0]!.split(' ').sort()).toEqual(['A-1', 'A-3', 'A-5', 'all:'])
  })

  it('leave out of a digest what is not to be told yet', async () => {
    const worker = working({ digest: { more_than: 1 } })
    await raise(
      about('A-1'),
      about('A-2'),
      about('A-3', { alert_at: new Date(clock.now_ms() + 20 * MINUTE_MS) }),
    )
    await work(worker)
    clock.advance(2 * SECOND_MS)
    await work(worker)
    expect(told.map((message) => message.split(' ').sort())).toEqual([['A-1', 'A-2', 'all:']])
    clock.advance(20 * MINUTE_MS)
    await work(worker)
    expect(told[1]).toBe('all: A-3')
  })

  it('P29 of two tenants never share a message', async () => {
    const worker = working({ digest: { more_than: 1 } })
    await raise(...['1', '2', '3'].map((order) => about(`A-${order}`)))
    await raise(...['4', '5', '6'].map((order) => about(`A-${order}`, { tenant: 'other' })))
    for (let times = 0; times < 3; times += 1) {
      await work(worker)
      clock.advance(2 * SECOND_MS)
    }
    expect(told.map((message) => message.split(' ').sort().join(' ')).sort()).toEqual([
      'A-1 A-2 A-3 all:',
      'A-4 A-5 A-6 all:',
    ])
  })

  it('P34 P42 whose common message fails are all told later, together', async () => {
    let away = true
    const worker = working({
      digest: { more_than: 2 },
      routes: [
        {
          to: (effect, context) => {
            if (away) throw new Error('the chat is away')
            return to('all')(effect, context)
          },
        },
      ],
    })
    await raise(...['1', '2', '3', '4', '5', '6'].map((order) => about(`A-${order}`)))
    for (let times = 0; times < 4; times += 1) {
      await worker.runOnce()
      clock.advance(2 * SECOND_MS)
    }
    expect(worker.errors.length).toBeGreaterThan(0)
    away = false
    for (let times = 0; times < 10; times += 1) {
      await worker.runOnce()
      clock.advance(MINUTE_MS)
    }
    expect(told).toHaveLength(1)
    expect(new Set(await states(database))).toEqual(new Set(['done']))
  })

  it('P42 each reach somebody exactly once, by several workers, however they come and whenever anybody looks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            count: fc.integer({ min: 0, max: 12 }),
            urgent: fc.boolean(),
            pause_ms: fc.constantFrom(SECOND_MS, 20 * SECOND_MS, 5 * MINUTE_MS, HOUR_MS),
            dies: fc.boolean(),
          }),
          { minLength: 1, maxLength: 8 },
        ),
        async (waves) => {
          database = await open()
          await database.script('delete from effects; delete from exceptions')
          told = []
          const quiet = { from: '14:00', to: '15:00', zone: 'UTC' }
          const workers = () =>
            [1, 2].map(() => working({ digest: { more_than: 3 }, quiet }, { batch: 5, concurrency: 2 }))
          let order = 0
          for (const { count, urgent, pause_ms, dies } of waves) {
            const severity = urgent ? 'urgent' : 'warning'
            await raise(...Array.from({ length: count }, () => about(`A-${++order}`, { severity })))
            if (dies) {
              // A process that takes some and is gone: they come back when its leases end.
              await database.script(`
                update effects set attempts = attempts + 1, lease_token = gen_random_uuid(),
                  available_at = '${new Date(clock.now_ms() + 30_000).toISOString()}'
                where state = 'due' and id % 3 = 0`)
            }
            await Promise.all(workers().map((worker) => worker.runOnce()))
            clock.advance(pause_ms)
          }
          for (let rest = 0; rest < 60; rest += 1) {
            await Promise.all(workers().map((worker) => worker.runOnce()))
            clock.advance(rest % 4 === 3 ? 10 * MINUTE_MS : 2 * SECOND_MS)
          }
          const subjects = told.flatMap((message) => message.split(' ').slice(1))
          expect(subjects.sort()).toEqual(
            Array.from({ length: order }, (_, place) => `A-${place + 1}`).sort(),
          )
          expect(new Set(await states(database)).size).toBeLessThanOrEqual(1)
        },
      ),
      { numRuns: 5 },
    )
  })
})

describe('the options of alerts', () => {
  const route = { to: () => undefined }

  it('are refused where they cannot work', () => {
    for (const options of [
      { routes: [] },
      { routes: [{ to: 'ada@example.com' as never }] },
      { routes: [{ ...route, severity: 'loud' as never }] },
      { routes: [{ ...route, kinds: ['overpayment' as never] }] },
      { routes: [route, { ...route, severity: 'urgent' as const }] },
      { routes: [route], digest: { more_than: 0 } },
      { routes: [route], digest: { within_ms: 10 } },
      { routes: [route], quiet: { from: '25:00', to: '07:00', zone: 'UTC' } },
      { routes: [route], quiet: { from: '07:00', to: '07:00', zone: 'UTC' } },
      { routes: [route], quiet: { from: '22:00', to: '07:00', zone: 'Mars/Olympus' } },
    ]) {
      expect(() => readAlerts(options), JSON.stringify(options)).toThrow(
        expect.objectContaining({ code: 'config_invalid' }),
      )
    }
  })
})
