import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import { readClock } from '../store/queries/read-clock.ts'
import { checkClock } from './clock-watch.ts'

withDatabases('the clock', (open) => {
  it('P58 raises one exception while it is far from the database’s, and closes it', async () => {
    const database = await open()
    const opened = () =>
      loadOpenExceptions(database, 0, 'receive', [
        { tenant: 'default', subject_kind: 'installation', subject_key: 'clock' },
      ])
    const right_ms = (await readClock(database)).getTime()
    const check = (now_ms: number) => checkClock(database, 0, 'default', () => now_ms)

    for (const wrong_ms of [-600_000, 600_000]) {
      expect(Math.sign(await check(right_ms + wrong_ms))).toBe(Math.sign(wrong_ms))
      await check(right_ms + wrong_ms)
      expect(await opened()).toMatchObject([{ kind: 'clock_skew', cause: '-' }])
    }
    await checkClock(database, 0, 'default', Date.now)
    expect(await opened()).toEqual([])
  })
})
