// The same traffic to several receivers in turn, on one server, in one run: what may differ is the receiver alone.
import { prove } from './proof.js'
import { SECRET, startReceiver } from './receiver.js'
import { createSupply } from './supply.js'

/**
 * One kind of traffic, sent at several numbers of connections.
 * @typedef {{ name: string, shape: import('./traffic.js').Shape, hook: boolean, connections: number[] }} Scenario
 * @typedef {{ rounds: number, sample_ms: number, warm_up_ms: number }} Timing
 * @typedef {{ server: import('./postgres.js').Server, drive: import('./load/load.js').Drive, timing: Timing,
 *   progress: (text: string) => void, server_cpu_ms: () => number | null }} Bench
 * @typedef {{ per_s: number, p50_ms: number, p99_ms: number, max_ms: number, receiver_cpu_ms_per_event: number,
 *   database_cpu_ms_per_event: number | null, peak_mb: number }} Sample
 * @typedef {Awaited<ReturnType<typeof enter>>} Contestant
 */

/**
 * Runs scenarios on the same receivers, one after the other, so that a later one finds them warm.
 * @param {Bench} bench
 * @param {Scenario[]} scenarios all with the hook, or all without
 * @param {(scenario: Scenario) => string[]} namesOf receivers, in the order in which they take turns
 * @returns {Promise<Map<Scenario, Record<number, Record<string, Sample[]>>>>} by scenario, connections and receiver
 */
export async function measure(bench, scenarios, namesOf) {
  await bench.server.settle()
  const contestants = new Map()
  try {
    const measured = new Map()
    for (const scenario of scenarios) {
      const turns = []
      for (const name of namesOf(scenario)) turns.push(await prepare(bench, contestants, scenario, name))
      const by_connections = {}
      for (const connections of scenario.connections) {
        by_connections[connections] = await takeTurns(bench, turns, connections, scenario.name)
      }
      measured.set(scenario, by_connections)
    }
    for (const each of contestants.values()) await check(each)
    return measured
  } finally {
    for (const each of contestants.values()) await leave(bench, each)
  }
}

/** Starts a receiver where it does not run yet, and warms it up for this kind of traffic. */
async function prepare(bench, contestants, scenario, name) {
  if (!contestants.has(name)) contestants.set(name, await enter(bench, scenario, name))
  const contestant = contestants.get(name)
  contestant.supply.use(scenario.shape)
  await warmUp(bench, contestant, scenario.connections[0])
  return contestant
}

async function takeTurns(bench, contestants, connections, label) {
  const samples = Object.fromEntries(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < bench.timing.rounds; round++) {
    for (const contestant of contestants) {
      const sample = await takeSample(bench, contestant, connections)
      samples[contestant.name].push(sample)
      bench.progress(`${label}${connections}: ${contestant.name} ${Math.round(sample.per_s)}/s`)
    }
  }
  return samples
}

/** A receiver with a database and traffic of its own; `nothing`, which keeps nothing, has no database. */
export async function enter({ server }, { shape, hook }, name) {
  const database_url = name === 'nothing' ? undefined : await server.create()
  const receiver = await startReceiver(name, { database_url, hook })
  return contestant(receiver, { shape, hook, database_url })
}

export function contestant(receiver, { shape, hook, database_url }) {
  const supply = createSupply({ secret: SECRET, shape })
  return {
    name: receiver.name,
    hook,
    database_url,
    receiver,
    supply,
    prepared: 0,
    per_s: 0,
    may_be_cut_off: 0,
  }
}

export async function leave({ server }, { receiver, database_url }) {
  await receiver.stop()
  if (database_url !== undefined) await server.drop(database_url)
}

/** Fills caches, lets the compilers work, and tells how much traffic the first sample may need. */
export async function warmUp(bench, contestant, connections) {
  contestant.per_s = 3_000
  const stretch = await send(bench, contestant, connections, bench.timing.warm_up_ms)
  // It was cold for most of this time.
  contestant.per_s = 2 * rate(stretch)
}

/** @returns {Promise<Sample>} */
export async function takeSample(bench, contestant, connections) {
  const before = await spent(bench, contestant)
  const stretch = await send(bench, contestant, connections, bench.timing.sample_ms)
  const after = await spent(bench, contestant)
  contestant.per_s = rate(stretch)
  return {
    per_s: rate(stretch),
    p50_ms: stretch.p50_ms,
    p99_ms: stretch.p99_ms,
    max_ms: stretch.max_ms,
    receiver_cpu_ms_per_event: (after.receiver - before.receiver) / stretch.answered,
    database_cpu_ms_per_event:
      before.server === null ? null : (after.server - before.server) / stretch.answered,
    peak_mb: after.peak_mb,
  }
}

const rate = ({ answered, duration_ms }) => (answered / duration_ms) * 1000

async function spent({ server_cpu_ms }, { receiver }) {
  const { cpu_ms, peak_mb } = await receiver.usage()
  return { receiver: cpu_ms, peak_mb, server: server_cpu_ms() }
}

/** One stretch of load; done again with more deliveries when they ran out before the time did. */
async function send(bench, contestant, connections, duration_ms) {
  const { receiver, supply } = contestant
  for (let spare = 1.7; ; spare *= 2) {
    const deliveries = supply.ahead(await provide(contestant, spare * (duration_ms + 100), connections))
    const stretch = await bench.drive({ port: receiver.port, deliveries, connections, duration_ms })
    if (stretch.not_ok > 0 || stretch.lost > 0) {
      throw new Error(
        `${receiver.name} answered ${stretch.not_ok} of ${stretch.answered} deliveries with an error ` +
          `and ${stretch.lost} connections failed: this run counts for nothing`,
      )
    }
    // What keeps nothing cannot tell a delivery from its copy, so it may be sent the same ones for ever.
    if (receiver.name === 'nothing') return stretch
    contestant.may_be_cut_off += connections
    supply.spend(Math.min(stretch.sent, deliveries.length))
    if (stretch.sent <= deliveries.length) return stretch
  }
}

/** Registers the orders of the deliveries that this time may need, and gives their number. */
async function provide(contestant, duration_ms, connections) {
  if (contestant.name === 'nothing') return 4_000
  const count = Math.ceil((contestant.per_s * duration_ms) / 1000) + 2 * connections
  contestant.supply.ahead(count)
  const end = contestant.supply.orders_end()
  await contestant.receiver.prepare({ first: contestant.prepared, end })
  contestant.prepared = end
  return count
}

async function check(contestant) {
  if (contestant.database_url === undefined) return
  const found = await prove(contestant)
  if (found.length > 0)
    throw new Error(`${contestant.name} did not record what was sent: ${found.join('; ')}`)
}
