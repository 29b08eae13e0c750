import { describe, expect, it } from 'vitest'
import { contestant, takeSample } from './scenario.js'

const usage = { cpu_ms: 10, peak_mb: 50, rss_mb: 40 }
const receiver = { name: 'plain', port: 1, usage: async () => usage, prepare: async () => {} }

/** A bench whose generator answers everything at once and tells that it sent what `sent` says. */
function benchThatSends(sent, faults = {}) {
  const offered = []
  return {
    offered,
    timing: { rounds: 1, sample_ms: 100, warm_up_ms: 0 },
    server_cpu_ms: () => null,
    async drive({ deliveries, duration_ms }) {
      offered.push(deliveries.map(({ event }) => event))
      const count = sent(deliveries.length, offered.length)
      return {
        sent: count,
        answered: count,
        not_ok: 0,
        lost: 0,
        duration_ms,
        p50_ms: 1,
        p99_ms: 2,
        max_ms: 3,
        ...faults,
      }
    },
  }
}

function plain(rate) {
  return {
    ...contestant(receiver, { shape: 'single', hook: false, database_url: 'postgres://none' }),
    per_s: rate,
  }
}

describe('a sample', () => {
  it('remembers exactly what was sent and offers the rest again', async () => {
    const bench = benchThatSends((_offered, call) => (call === 1 ? 30 : 10))
    const each = plain(1_000)
    await takeSample(bench, each, 4)
    expect([...each.supply.sent.keys()]).toEqual(bench.offered[0].slice(0, 30))
    await takeSample(bench, each, 4)
    expect(bench.offered[1][0]).toBe(bench.offered[0][30])
    expect(each.supply.sent.size).toBe(40)
  })

  it('is taken again when the deliveries ran out, without counting any that were only made ahead', async () => {
    const bench = benchThatSends((offered, call) => (call === 1 ? offered + 500 : 20))
    const each = plain(1_000)
    each.supply.ahead(5_000)
    const { per_s } = await takeSample(bench, each, 4)
    expect(bench.offered).toHaveLength(2)
    expect([...each.supply.sent.keys()]).toEqual([...bench.offered[0], ...bench.offered[1].slice(0, 20)])
    expect(per_s).toBe(200)
  })

  it('counts for nothing when an answer was an error or a connection failed', async () => {
    for (const faults of [{ not_ok: 1 }, { lost: 1 }]) {
      const bench = benchThatSends(() => 10, faults)
      await expect(takeSample(bench, plain(1_000), 4)).rejects.toThrow('counts for nothing')
    }
  })
})
