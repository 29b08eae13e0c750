// Takes the effects due at the time given, says the key of each when it has done it, and never acknowledges: it waits to
// be killed. Arguments: `postgres` and a URL, or `pglite` and a directory; the time, Unix milliseconds.
import { EffectsWorker } from '../../src/effects/worker.ts'
import { openPglite } from '../../src/store/pglite.ts'
import { openPostgres } from '../../src/store/postgres.ts'

const [driver, place, now_ms] = process.argv.slice(2)
const database =
  driver === 'postgres'
    ? await openPostgres({ url: place!, max: 2 })
    : await openPglite({ directory: place! })
const worker = new EffectsWorker({
  database,
  now_ms: () => Number(now_ms),
  deliverer: (effect) => {
    console.log(effect.key)
    return new Promise(() => undefined)
  },
})
await worker.start()
