// `npm run mutations`: puts each known bug back, one at a time, in a copy of the source, and sees its test fail.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { MUTATIONS } from '../test/mutations/list.js'

const HELP = `Puts known bugs back and sees the tests notice.

  npm run mutations -- [options]

  --only TEXT  only mutations whose id or bug holds this text
  --json       one JSON document
`

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
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

const chosen = MUTATIONS.filter(({ id, bug }) => !values.only || `${id} ${bug}`.includes(values.only))
const copy = mkdtempSync(join(tmpdir(), 'paidonce-mutations-'))
const results = []
try {
  for (const path of COPIED) cpSync(path, join(copy, path), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  writeFileSync(
    join(copy, PURE),
    'export default { test: { include: ["src/**/*.test.ts"], testTimeout: 60000 } }\n',
  )
  for (const mutation of chosen) {
    const result = judge(mutation)
    results.push({ id: mutation.id, bug: mutation.bug, result })
    if (!values.json)
      process.stdout.write(
        `${result === 'noticed' ? 'ok ' : 'NOT'} ${mutation.id} ${mutation.bug}: ${result}\n`,
      )
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
const missed = results.filter(({ result }) => result !== 'noticed')
if (values.json)
  process.stdout.write(`${JSON.stringify({ mutations: results.length, missed, results }, null, 2)}\n`)
else process.stdout.write(`${results.length - missed.length} noticed, ${missed.length} not\n`)
process.exitCode = missed.length > 0 || results.length === 0 ? 1 : 0

/** `noticed` when the named tests pass as they are and fail with the bug put back; else what is wrong. */
function judge({ file, find, replace, test, name, database = false }) {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  const places = text.split(find).length - 1
  if (places !== 1) return `the text to change stands ${places} times in ${file}`
  try {
    writeFileSync(
      path,
      text.replace(find, () => replace),
    )
    const { ran, failed, passed } = run(test, name, database)
    if (!ran) return `no test named ${name} ran in ${test}`
    return failed > 0 ? 'noticed' : `not noticed by ${passed} tests`
  } finally {
    writeFileSync(path, text)
  }
}

function run(test, name, database) {
  const config = database ? [] : ['--config', PURE]
  const args = ['run', ...config, '--reporter=json', '--bail=1', '-t', name, test]
  const { stdout } = spawnSync(process.execPath, [join('node_modules', 'vitest', 'vitest.mjs'), ...args], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const start = stdout.indexOf('{"numTotalTestSuites"')
  if (start < 0) return { ran: false, failed: 0, passed: 0 }
  const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(stdout.slice(start))
  return { ran: passed + failed > 0, failed, passed }
}
