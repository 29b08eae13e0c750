// The same results as a table for people.
import Table from 'cli-table3'

const RATIO_COLUMNS = [
  'Scenario',
  'Receiver',
  'per s',
  'p50 ms',
  'p99 ms',
  'CPU ms/event',
  'database',
  'peak MB',
  'paidonce is',
]

export function printTable({ scenarios, flood, embedded, growth, verification, setting, ...rest }) {
  const parts = [`${line(setting)}\n`, scenarioTable(scenarios, rest)]
  if (flood !== undefined)
    parts.push('\nBeside a flood of forged deliveries (64 connections each)\n', flat(flood))
  if (growth !== undefined)
    parts.push('\nCost per event as the tables grow (256 connections)\n', flat(growth))
  if (embedded !== undefined) parts.push('\nEmbedded PGlite (64 connections)\n', flat({ paidonce: embedded }))
  if (verification !== undefined) parts.push('\n', verificationTable({ verification }))
  return `${parts.join('')}\n`
}

function line({
  form,
  generator,
  node,
  postgres,
  cpu,
  cores,
  fsync,
  synchronous_commit,
  rounds,
  sample_ms,
  took_s,
}) {
  return (
    `${form} form, ${rounds} alternating rounds of ${sample_ms / 1000} s, median; ${generator}; Node ${node}; ` +
    `PostgreSQL ${postgres}, fsync ${fsync}, synchronous_commit ${synchronous_commit}; ${cores} x ${cpu}; ${took_s} s in all`
  )
}

function scenarioTable(scenarios, found) {
  const table = new Table({ head: RATIO_COLUMNS, style: { head: [], border: [] } })
  for (const [name, receivers] of Object.entries(scenarios)) {
    for (const [receiver, figures] of Object.entries(receivers)) {
      const { per_s, p50_ms, p99_ms, receiver_cpu_ms_per_event, database_cpu_ms_per_event, peak_mb } = figures
      const key =
        receiver === 'nothing'
          ? 'ratio_to_nothing_'
          : name.startsWith('hook')
            ? 'ratio_with_'
            : 'ratio_to_plain_'
      const ratio = receiver === 'paidonce' ? undefined : found[`${key}${name}`]
      const cells = [
        name,
        receiver,
        per_s,
        p50_ms,
        p99_ms,
        receiver_cpu_ms_per_event,
        database_cpu_ms_per_event ?? '-',
      ]
      table.push([...cells, peak_mb, ratio === undefined ? '' : `${ratio} x`])
    }
  }
  return table.toString()
}

export function verificationTable({ verification }) {
  const table = new Table({
    head: ['Signature of', 'ours, us', 'theirs, us', 'ours is', 'theirs'],
    style: { head: [], border: [] },
  })
  for (const [name, { ours_us, sdk_us, ratio, beside }] of Object.entries(verification))
    table.push([name, ours_us, sdk_us, `${ratio} x`, beside])
  return `Checking one delivery, without HTTP; above 1 ours is the faster one\n${table.toString()}\n`
}

/** Rows of objects with equal fields. */
function flat(rows) {
  const fields = Object.keys(Object.values(rows)[0] ?? {})
  const table = new Table({
    head: ['', ...fields.map((field) => field.replaceAll('_', ' '))],
    style: { head: [], border: [] },
  })
  for (const [name, row] of Object.entries(rows))
    table.push([name, ...fields.map((field) => row[field] ?? '-')])
  return table.toString()
}
