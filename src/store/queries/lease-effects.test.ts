import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { withPostgres } from '../../../test/database.ts'
import { oneShot, put, StandingClock } from '../../../test/outbox.ts'
import { LEASE } from './lease-effects.ts'

withPostgres('taking effects', (open) => {
  it.each(['without statistics', 'with statistics'])(
    'looks at no more rows than it takes, and at each one by its subject, in a table %s',
    async (known) => {
      const db = await open()
      const clock = new StandingClock()
      await put(db, ...Array.from({ length: 2_000 }, (_, index) => oneShot({ order: index + 1 })))
      if (known === 'with statistics') await db.script('analyze effects')
      const explain = { name: '', text: `explain (analyze, timing off, costs off) ${LEASE.text}` }
      const until = new Date(clock.now_ms() + 30_000)
      const rows = await db.query<Record<string, string>>(explain, [0, clock.now(), randomUUID(), until, 20])
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).toMatch(/Index Scan using effects_due on effects e_1 \(actual rows=20/)
      expect(plan).toMatch(/Index Scan using effects_announced_once on effects \(actual rows=1/)
      expect(plan).not.toMatch(/Seq Scan on effects|Sort/)
    },
  )
})
