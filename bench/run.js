// `npm run bench`: measures, checks and prints. Progress goes to stderr, results to stdout.
import { cpus, totalmem } from 'node:os'
import { ratios, summary } from './figures.js'
import { chooseGenerator } from './load/load.js'
import { readOptions } from './options.js'
import { openServer } from './postgres.js'
import { printTable, verificationTable } from './report.js'
import { measure } from './scenario.js'
import { measureEmbedded } from './sections/embedded.js'
import { measureFlood } from './sections/flood.js'
import { measureGrowth } from './sections/growth.js'
import { measureVerification } from './sections/verification.js'
import { serverCpu } from './server-cpu.js'

const QUICK = { rounds: 3, sample_ms: 700, warm_up_ms: 2_000 }
const FULL = { rounds: 3, sample_ms: 8_000, warm_up_ms: 3_000 }

/** @type {{ quick: import('./scenario.js').Scenario[], full: import('./scenario.js').Scenario[] }} */
const SCENARIOS = {
  quick: [
    { name: '', shape: 'single', hook: false, connections: [64, 256] },
    { name: 'mixed_', shape: 'mixed', hook: false, connections: [64] },
    { name: 'hook_', shape: 'single', hook: true, connections: [64] },
  ],
  full: [
    { name: '', shape: 'single', hook: false, connections: [64, 256] },
    { name: 'mixed_', shape: 'mixed', hook: false, connections: [64, 256] },
    { name: 'hook_', shape: 'single', hook: true, connections: [64, 256] },
    { name: 'hook_mixed_', shape: 'mixed', hook: true, connections: [64, 256] },
  ],
}

const begun_ms = performance.now()
const options = readOptions(process.argv.slice(2))
const recording = options.receivers.filter((name) => name !== 'nothing')
const generator = chooseGenerator(options.generator)
const progress = (text) =>
  process.stderr.write(`${((performance.now() - begun_ms) / 1000).toFixed(1)} s  ${text}\n`)

// Leaves through the exit handlers, which take the database server along.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

if (options.verification) print({ verification: await measureVerification(progress) }, verificationTable)
else await raceOnPostgres()

async function raceOnPostgres() {
  progress(options.database === undefined ? 'starting PostgreSQL' : 'connecting to PostgreSQL')
  const server = await openServer(options.database)
  try {
    const bench = {
      server,
      drive: generator.drive,
      timing: options.quick ? QUICK : FULL,
      progress,
      server_cpu_ms: () => serverCpu(server.pid),
    }
    const result = { ...(await measureScenarios(bench)), ...(await measureSections(bench)) }
    print({ ...result, setting: describe(bench) }, printTable)
  } finally {
    await server.close()
  }
}

function print(report, asTable) {
  process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : asTable(report))
}

async function measureScenarios(bench) {
  const report = { ratios: {}, p50_ms: {}, p99_ms: {}, scenarios: {} }
  const scenarios = SCENARIOS[options.quick ? 'quick' : 'full']
  for (const hook of [false, true]) {
    const alike = scenarios.filter((scenario) => scenario.hook === hook)
    const namesOf = ({ name }) => (name === '' ? options.receivers : recording)
    for (const [scenario, measured] of await measure(bench, alike, namesOf))
      enterFigures(report, scenario, measured)
  }
  return { ...report.ratios, p50_ms: report.p50_ms, p99_ms: report.p99_ms, scenarios: report.scenarios }
}

function enterFigures(report, scenario, measured) {
  for (const [connections, samples] of Object.entries(measured)) {
    const name = `${scenario.name}${connections}`
    Object.assign(report.ratios, ratios(name, samples))
    report.scenarios[name] = {}
    for (const receiver of Object.keys(samples)) {
      const figures = summary(samples[receiver])
      report.scenarios[name][receiver] = figures
      report.p50_ms[`${receiver}_${name}`] = figures.p50_ms
      report.p99_ms[`${receiver}_${name}`] = figures.p99_ms
    }
  }
}

async function measureSections(bench) {
  if (options.quick) return {}
  const sections = { flood: {} }
  for (const name of recording) sections.flood[name] = await measureFlood(bench, name)
  if (!options.receivers.includes('paidonce')) return sections
  sections.embedded = await measureEmbedded(bench)
  sections.growth = await measureGrowth(bench, 'paidonce', options.stored)
  sections.verification = await measureVerification(progress)
  return sections
}

function describe({ timing, server }) {
  return {
    form: options.quick ? 'quick' : 'full',
    ...timing,
    generator: generator.name,
    node: process.version,
    postgres: server.version,
    ...server.durability,
    shared_buffers: server.shared_buffers,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 1024 ** 3),
    took_s: Math.round((performance.now() - begun_ms) / 1000),
  }
}
