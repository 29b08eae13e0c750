// What a flood of forged deliveries costs the authentic ones that come at the same time.
import { round } from '../figures.js'
import { SECRET } from '../receiver.js'
import { enter, leave, takeSample, warmUp } from '../scenario.js'
import { deliveries } from '../traffic.js'

const CONNECTIONS = 64
const FORGED = 4_000

/**
 * As many connections send forgeries, as fast as they are refused, as send authentic deliveries. `kept` is the part
 * of the authentic throughput that remains; a receiver that refuses for free keeps all, one that pays as much for a
 * forgery as for a payment keeps half.
 * @param {import('../scenario.js').Bench} bench
 */
export async function measureFlood(bench, name) {
  const contestant = await enter(bench, { shape: 'single', hook: false }, name)
  try {
    await warmUp(bench, contestant, CONNECTIONS)
    const alone = await takeSample(bench, contestant, CONNECTIONS)
    const [beside, forged] = await Promise.all([
      takeSample(bench, contestant, CONNECTIONS),
      flood(bench, contestant),
    ])
    bench.progress(
      `flood: ${name} ${Math.round(beside.per_s)}/s beside ${Math.round(forged.per_s)} forgeries/s`,
    )
    return {
      alone_per_s: Math.round(alone.per_s),
      beside_flood_per_s: Math.round(beside.per_s),
      forged_per_s: Math.round(forged.per_s),
      kept: round(beside.per_s / alone.per_s),
      p99_alone_ms: round(alone.p99_ms),
      p99_beside_flood_ms: round(beside.p99_ms),
    }
  } finally {
    await leave(bench, contestant)
  }
}

/** The same forgeries over and over: what is refused is not remembered. */
async function flood({ drive, timing }, { receiver }) {
  const stream = deliveries({ secret: SECRET, shape: 'single', forged: true })
  const forged = Array.from({ length: FORGED }, () => stream.next().value)
  const load = {
    port: receiver.port,
    deliveries: forged,
    connections: CONNECTIONS,
    duration_ms: timing.sample_ms,
  }
  const { answered, not_ok, duration_ms } = await drive(load)
  if (not_ok !== answered) throw new Error(`${receiver.name} accepted a forged delivery`)
  return { per_s: (answered / duration_ms) * 1000 }
}
