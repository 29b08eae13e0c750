// What can be said on the command line.
import { parseArgs } from 'node:util'

const HELP = `Measures paidonce beside the usual handler, on one real PostgreSQL, over HTTP.

  npm run bench -- [options]

  --quick              the ratios alone, in under 50 seconds
  --verification       how fast signatures are checked, beside each provider's own library; needs no database
  --json               one JSON object on stdout instead of the table
  --database URL       a PostgreSQL to use (needs the right to create databases); default: one is started
  --generator NAME     wrk or autocannon; default: wrk where it is installed
  --receivers A,B      some of plain, paidonce, nothing; what needs the others is left out
  --stored N           how many stored events the long end of the growth section has; default 1000000
  --help               this text
`

/** @typedef {ReturnType<typeof readOptions>} Options */

export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      verification: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      database: { type: 'string' },
      generator: { type: 'string' },
      receivers: { type: 'string', default: 'plain,paidonce,nothing' },
      stored: { type: 'string', default: '1000000' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    process.exit(0)
  }
  const receivers = values.receivers.split(',')
  const unknown = receivers.find((name) => !['plain', 'paidonce', 'nothing'].includes(name))
  if (unknown !== undefined)
    throw new Error(`no receiver is called "${unknown}": use plain, paidonce or nothing`)
  if (![undefined, 'wrk', 'autocannon'].includes(values.generator)) {
    throw new Error(`no generator is called "${values.generator}": use wrk or autocannon`)
  }
  const stored = Number(values.stored)
  if (!Number.isInteger(stored) || stored < 20_000)
    throw new Error('--stored takes a whole number, at least 20000')
  return { ...values, receivers, stored }
}
