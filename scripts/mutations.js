// `npm run mutations`: puts each known bug back, one at a time, in a copy of the source, and sees its test fail.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { MUTATIONS } from '../test/mutations/list.js'

const HELP = `Puts known bugs back and sees the tests notice.

  npm run mutations -- [options]

  --only TEXT  only mutations whose id, bug or file holds this text
  --jobs N     how many at once (default 2)
  --json       one JSON document
`

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}

const COPIED = [
  'src',
  'test',
  'docs',
  'bench',
  'scripts',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
]
/** Tests of pure rooms need no database, and starting one takes longer than they do. */
const PURE = 'mutations.config.js'

const chosen = MUTATIONS.filter(
  ({ id, bug, file }) => !values.only || `${id} ${bug} ${file}`.includes(values.only),
)
const copies = Array.from(
  { length: Math.max(1, Math.min(Number(values.jobs) || 1, chosen.length)) },
  copySource,
)
const results = []
try {
  const sound = await trySound(copies[0], chosen)
  const queue = chosen.map((mutation, place) => ({ mutation, place }))
  await Promise.all(copies.map((copy) => workOff(copy, queue, sound)))
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
}
const missed = results.filter(({ result }) => result !== 'noticed')
if (values.json)
  process.stdout.write(`${JSON.stringify({ mutations: results.length, missed, results }, null, 2)}\n`)
else process.stdout.write(`${results.length - missed.length} noticed, ${missed.length} not\n`)
process.exitCode = missed.length > 0 || results.length === 0 ? 1 : 0

function copySource() {
  const copy = mkdtempSync(join(tmpdir(), 'paidonce-mutations-'))
  for (const path of COPIED) cpSync(path, join(copy, path), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  const include = ['src/**/*.test.ts', 'test/**/*.test.ts']
  const config = `export default { test: { include: ${JSON.stringify(include)}, testTimeout: 60000 } }\n`
  writeFileSync(join(copy, PURE), config)
  return copy
}

async function workOff(copy, queue, sound) {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { mutation, place } = next
    const result = sound.get(mutation) ?? (await judge(copy, mutation))
    results[place] = { id: mutation.id, bug: mutation.bug, result }
    if (!values.json)
      process.stdout.write(
        `${result === 'noticed' ? 'ok ' : 'NOT'} ${mutation.id} ${mutation.bug}: ${result}\n`,
      )
  }
}

/** Runs all named tests on the source as it is; gives what is wrong with those of a mutation, where something is. */
async function trySound(copy, mutations) {
  const wrong = new Map()
  for (const database of [false, true]) {
    const ours = mutations.filter((mutation) => (mutation.database ?? false) === database)
    if (ours.length === 0) continue
    const names = [...new Set(ours.map(({ name }) => name))]
    const files = [...new Set(ours.map(({ test }) => test))]
    const ends = await run(copy, files, names.join('|'), database)
    for (const mutation of ours) {
      const named = ends.filter(
        ({ file, name }) => file === join(copy, mutation.test) && new RegExp(mutation.name).test(name),
      )
      if (named.length === 0) wrong.set(mutation, `no test named ${mutation.name} ran in ${mutation.test}`)
      else if (named.some(({ status }) => status === 'failed'))
        wrong.set(mutation, 'fails without the bug too')
    }
  }
  return wrong
}

/** `noticed` when the named tests fail with the bug put back; else what is wrong. */
async function judge(copy, { file, find, replace, also = [], test, name, database = false }) {
  const before = new Map()
  try {
    for (const change of [{ file, find, replace }, ...also]) {
      const path = join(copy, change.file)
      const text = readFileSync(path, 'utf8')
      if (!before.has(path)) before.set(path, text)
      const places = text.split(change.find).length - 1
      if (places !== 1) return `the text to change stands ${places} times in ${change.file}: ${change.find}`
      writeFileSync(
        path,
        text.replace(change.find, () => change.replace),
      )
    }
    const ends = await run(copy, [test], name, database)
    if (ends.some(({ status }) => status === 'failed')) return 'noticed'
    return ends.length === 0 ? 'no test could run' : `not noticed by ${ends.length} tests`
  } finally {
    for (const [path, text] of before) writeFileSync(path, text)
  }
}

/** The tests that ran, each with how it ended. */
async function run(copy, files, name, database) {
  const config = database ? [] : ['--config', PURE]
  // A bug may make a test wait for ever; no test that passes needs as long as this.
  const limits = ['--testTimeout=30000', '--hookTimeout=60000', '--teardownTimeout=20000']
  const args = ['run', ...config, ...limits, '--reporter=json', '-t', name, ...files]
  const vitest = spawn(process.execPath, [join('node_modules', 'vitest', 'vitest.mjs'), ...args], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const chunks = []
  for await (const chunk of vitest.stdout) chunks.push(chunk)
  const output = Buffer.concat(chunks).toString()
  const start = output.indexOf('{"numTotalTestSuites"')
  if (start < 0) return []
  return JSON.parse(output.slice(start)).testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .map(({ fullName, status }) => ({ file, name: fullName, status }))
      .filter(({ status }) => status === 'passed' || status === 'failed'),
  )
}
