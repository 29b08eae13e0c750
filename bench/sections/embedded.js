// Without a database URL: PGlite inside the receiver's own process.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { round } from '../figures.js'
import { startReceiver } from '../receiver.js'
import { contestant, takeSample, warmUp } from '../scenario.js'

const CONNECTIONS = 64

/** @param {import('../scenario.js').Bench} bench */
export async function measureEmbedded(bench) {
  const directory = mkdtempSync(join(tmpdir(), 'paidonce-embedded-'))
  const receiver = await startReceiver('paidonce', { directory: join(directory, 'data') })
  const embedded = contestant(receiver, { shape: 'single', hook: false, database_url: undefined })
  try {
    await warmUp(bench, embedded, CONNECTIONS)
    const sample = await takeSample(bench, embedded, CONNECTIONS)
    const { peak_mb } = await receiver.usage()
    bench.progress(`embedded: ${Math.round(sample.per_s)}/s`)
    return {
      per_s: Math.round(sample.per_s),
      p50_ms: round(sample.p50_ms),
      p99_ms: round(sample.p99_ms),
      peak_mb: Math.round(peak_mb),
    }
  } finally {
    await receiver.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
