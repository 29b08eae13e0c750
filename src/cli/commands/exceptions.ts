import { type ExceptionRow, listExceptions } from '../../store/queries/list-exceptions.ts'
import { type Register, wholeNumber } from '../command.ts'
import { time } from '../table.ts'

interface ExceptionFlags {
  readonly all?: boolean
  readonly kind?: string
  readonly limit: number
}

export const registerExceptions: Register = (program, act) => {
  const command = program
    .command('exceptions')
    .description('what a person must decide; open ones unless --all is given')
    .option('--all', 'closed ones too')
    .option('--kind <kind>', 'only this kind')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 100)
  act<ExceptionFlags>(command, async (context, { all, kind, limit }) => {
    const { database, installation } = await context.open()
    const filter = { state: all ? undefined : 'open', kind, limit }
    const rows: ExceptionRow[] = []
    for (let bucket = 0; bucket < installation.buckets; bucket += 1) {
      rows.push(...(await listExceptions(database, bucket, filter)))
    }
    context.answer(rows, () => inWords(rows))
    return 0
  })
}

function inWords(rows: readonly ExceptionRow[]): string {
  if (rows.length === 0) return 'Nothing waits for a decision.\n'
  const told = rows.map((row) => {
    const closed = row.state === 'open' ? '' : '  closed'
    const head = `${row.severity}  ${row.kind}  ${row.subject_kind} ${row.subject_key}  ${time(row.opened_at)}${closed}`
    return `${head}\n  ${row.message}\n`
  })
  return [...told, `\n${rows.length} shown.\n`].join('')
}
