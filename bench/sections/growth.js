// Does an event cost more when many are stored? The same measurement at ten thousand and at a million stored events.
import { setTimeout as pause } from 'node:timers/promises'
import { round } from '../figures.js'
import { enter, leave, takeSample, warmUp } from '../scenario.js'

const CONNECTIONS = 256
const YOUNG = 10_000
const FILL = { rounds: 1, sample_ms: 10_000, warm_up_ms: 0 }
/** A server process tells the counters of its last transactions at the latest when it has idled this long. */
const COUNTERS_MS = 11_000

/** @param {import('../scenario.js').Bench} bench */
export async function measureGrowth(bench, name, stored) {
  const contestant = await enter(bench, { shape: 'single', hook: false }, name)
  try {
    await warmUp(bench, contestant, CONNECTIONS)
    const found = {}
    for (const events of [YOUNG, stored]) {
      await fill(bench, contestant, events)
      found[`at_${events}`] = await cost(bench, contestant)
    }
    return found
  } finally {
    await leave(bench, contestant)
  }
}

/** Through the front door: the receiver's memory has then seen a million deliveries too. */
async function fill(bench, contestant, events) {
  while (contestant.supply.sent.size < events) {
    const lacking_s = (events - contestant.supply.sent.size) / contestant.per_s
    const sample_ms = Math.min(FILL.sample_ms, Math.max(300, lacking_s * 1000))
    await takeSample({ ...bench, timing: { ...FILL, sample_ms } }, contestant, CONNECTIONS)
    bench.progress(`growth: ${contestant.supply.sent.size} events stored`)
  }
}

async function cost(bench, contestant) {
  const { server } = bench
  await pause(COUNTERS_MS)
  const pages_before = await server.pages(contestant.database_url)
  const sent_before = contestant.supply.sent.size
  const sample = await takeSample(bench, contestant, CONNECTIONS)
  await pause(COUNTERS_MS)
  const pages = (await server.pages(contestant.database_url)) - pages_before
  const { rss_mb, peak_mb } = await contestant.receiver.usage()
  return {
    stored_events: sent_before,
    per_s: Math.round(sample.per_s),
    p99_ms: round(sample.p99_ms),
    receiver_cpu_ms_per_event: round(sample.receiver_cpu_ms_per_event),
    database_cpu_ms_per_event:
      sample.database_cpu_ms_per_event === null ? null : round(sample.database_cpu_ms_per_event),
    pages_per_event: round(pages / (contestant.supply.sent.size - sent_before)),
    rss_mb: Math.round(rss_mb),
    peak_mb: Math.round(peak_mb),
  }
}
