// `npm run property -- --runs 20000 --seed 1`: the property tests, tried as often as one likes.
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

const HELP = `Tries the properties of random legal histories: permuted, duplicated, batched, cut.

  npm run property -- [options]

  --runs N           tries of each property of the pure rules; default 20000
  --database-runs N  tries of each property through PostgreSQL and PGlite; default 300
  --seed N           where the random numbers start; default: chance
`

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    'database-runs': { type: 'string', default: '300' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
for (const [name, value] of Object.entries(values)) {
  if (typeof value === 'string' && !/^\d{1,9}$/.test(value)) {
    process.stderr.write(`--${name} takes a whole number\n`)
    process.exit(2)
  }
}

const vitest = spawn(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    'src/rules/confluence.test.ts',
    'src/settle/settle-history.test.ts',
    // One run may take as long as it takes.
    '--testTimeout=0',
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      PROPERTY_RUNS: values.runs,
      PROPERTY_DATABASE_RUNS: values['database-runs'],
      ...(values.seed === undefined ? {} : { PROPERTY_SEED: values.seed }),
    },
  },
)
vitest.on('exit', (code) => process.exit(code ?? 1))
