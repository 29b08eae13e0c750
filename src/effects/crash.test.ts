import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { startChild } from '../../test/child.ts'
import { withPostgres } from '../../test/database.ts'
import { oneShot, outbox, put, StandingClock, standingWorker } from '../../test/outbox.ts'
import type { Database } from '../store/database.ts'
import { migrate } from '../store/migrate.ts'
import { openPglite } from '../store/pglite.ts'

const title = 'P34 repeats with the same key what a killed worker had done but not acknowledged'

/** What the next worker delivers: nothing while the lease of the dead one lasts, then the same. */
async function deliverAfter(db: Database, clock: StandingClock): Promise<[string[], string[]]> {
  const told: string[] = []
  const worker = standingWorker(clock, { database: db, deliverer: (effect) => told.push(effect.key) })
  await worker.runOnce()
  const during = [...told]
  clock.advance(30_000)
  await worker.runOnce()
  return [during, told]
}

withPostgres('a worker killed between doing and acknowledging', (open, url) => {
  it(title, async () => {
    const db = await open()
    const clock = new StandingClock()
    await put(db, oneShot({ order: 1 }))
    const child = startChild('deliver-effects', 'postgres', url(), String(clock.now_ms()))
    const key = await child.line()
    await child.kill()
    expect(await outbox(db)).toMatchObject([{ state: 'due', attempts: 1, leased: true }])
    expect(await deliverAfter(db, clock)).toEqual([[], [key]])
    expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 2 }])
  })
})

describe('a worker killed between doing and acknowledging on PGlite', () => {
  it(title, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'paidonce-crash-'))
    const clock = new StandingClock()
    try {
      const before = await openPglite({ directory, template: readFileSync(inject('pgliteTemplate')) })
      await migrate(before, { mode: 'test', now: clock.now() })
      await put(before, oneShot({ order: 1 }))
      await before.close()
      const child = startChild('deliver-effects', 'pglite', directory, String(clock.now_ms()))
      const key = await child.line()
      await child.kill()
      const db = await openPglite({ directory })
      try {
        expect(await deliverAfter(db, clock)).toEqual([[], [key]])
        expect(await outbox(db)).toMatchObject([{ state: 'done', attempts: 2 }])
      } finally {
        await db.close()
      }
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
