import { resolve } from 'node:path'
import { Fault } from '../../facts/fault.ts'
import type { PaidOnce } from '../../paidonce.ts'
import type { ReconciliationReport } from '../../reconcile/reconciler.ts'
import { openSettlementFile, readColumns, type SettlementFile } from '../../reconcile/settlement-file.ts'
import type { ReconciledKind } from '../../rules/reconcile.ts'
import type { ReconciliationRow } from '../../store/queries/run-reconciliation.ts'
import { type CommandContext, type Register, WrongUsage, wholeNumber } from '../command.ts'
import { csv } from '../csv.ts'
import { list, table, time } from '../table.ts'
import { BREAK_HEAD, breakCells } from './breaks.ts'

interface ReconcileFlags {
  readonly endpoint?: string
  readonly from?: string
  readonly to?: string
  readonly csv?: boolean
  readonly runs?: boolean
  readonly limit: number
  readonly file?: string
  readonly map?: string
  readonly kinds?: string
  readonly statuses?: string
  readonly currency?: string
  readonly minor?: boolean
  readonly delimiter?: string
}

export const registerReconcile: Register = (program, act) => {
  const command = program
    .command('reconcile')
    .description(
      'compare what the provider lists with what we know, both ways, and settle what only it knows; exit status 1 when\na difference is open or a list broke off',
    )
    .option('--endpoint <name>', 'only this endpoint (default: one per account that can be listed)')
    .option(
      '--from <time>',
      'begin of the window, ISO 8601 (default: where the last one ended, less the overlap)',
    )
    .option('--to <time>', 'end of the window, not included (default: now)')
    .option('--csv', 'print the differences as CSV')
    .option('--runs', 'show earlier runs instead')
    .option('--limit <n>', 'at most so many runs', wholeNumber(1), 20)
    .option('--file <csv>', 'a settlement file instead of the list; needs --endpoint and --map')
    .option('--map <pairs>', 'what its columns mean: id=Charge ID,amount=Gross,currency=Currency,fee=Fee')
    .option('--kinds <pairs>', 'what the words of its kind column mean: charge=payments,refund=refunds')
    .option('--statuses <pairs>', 'what the words of its status column mean: paid=succeeded')
    .option('--currency <code>', 'currency of the whole file')
    .option('--minor', 'its amounts are whole minor units')
    .option('--delimiter <character>', 'between its columns (default: a comma)')
  act<ReconcileFlags>(command, async (context, flags) => {
    const paidonce = await context.open()
    if (flags.runs) {
      const runs = await paidonce.breaks.runs(flags.endpoint ?? null, flags.limit)
      context.answer(runs, () => runsInWords(runs))
      return 0
    }
    const [from, to] = [readTime(flags.from, '--from'), readTime(flags.to, '--to')]
    const file = await readFile(flags)
    const reports: ReconciliationReport[] = []
    for (const endpoint of endpointsOf(paidonce, flags)) {
      const onProgress = (kind: string, listed: number) =>
        context.progress({ label: `${endpoint}: ${kind}`, done: listed, total: listed })
      reports.push(await paidonce.reconciler.run({ endpoint, from, to, file, onProgress }))
      context.progress(null)
    }
    answer(context, flags, reports)
    const good = reports.every(
      ({ state, breaks }) => state === 'done' && breaks.every((one) => one.state !== 'open'),
    )
    return good ? 0 : 1
  })
}

function answer(
  context: CommandContext,
  flags: ReconcileFlags,
  reports: readonly ReconciliationReport[],
): void {
  if (flags.csv && !context.common.json) {
    const rows = reports.flatMap(({ breaks }) => breaks).map(breakCells)
    context.out.write(csv([BREAK_HEAD, ...rows]))
    return
  }
  context.answer(reports, () => reports.map(inWords).join('\n'))
}

function endpointsOf({ reconciler }: PaidOnce, { endpoint, file }: ReconcileFlags): readonly string[] {
  if (endpoint !== undefined) return [endpoint]
  if (file !== undefined) throw new WrongUsage('--file needs --endpoint, whose money it settles')
  const names = reconciler.listed.map(({ name }) => name)
  if (names.length > 0) return names
  throw new Fault(
    'lookup_unsupported',
    'No configured endpoint can be listed. Give API credentials to one whose page under docs/providers/ names a list, or reconcile a settlement file.',
  )
}

function readTime(text: string | undefined, flag: string): Date | undefined {
  if (text === undefined) return undefined
  // Without a zone it would mean another window on another machine; a bare date is UTC by definition.
  const zoned = /^\d{4}-\d\d-\d\d$/.test(text) || /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const at = new Date(text)
  if (zoned && !Number.isNaN(at.getTime())) return at
  throw new WrongUsage(`${flag} takes a date, or a time with its zone: 2026-01-31 or 2026-01-31T12:00:00Z`)
}

async function readFile(flags: ReconcileFlags): Promise<SettlementFile | undefined> {
  if (flags.file === undefined) return undefined
  if (flags.map === undefined) throw new WrongUsage('--file needs --map, which says what its columns mean')
  return openSettlementFile(resolve(flags.file), {
    columns: readColumns(flags.map),
    kinds: pairs(flags.kinds, '--kinds', (word): word is ReconciledKind => KINDS.includes(word)),
    statuses: pairs(flags.statuses, '--statuses', (word): word is string => word !== ''),
    currency: flags.currency?.toUpperCase(),
    minor: flags.minor,
    delimiter: flags.delimiter,
  })
}

const KINDS: readonly string[] = ['payments', 'refunds', 'disputes']

function pairs<Word extends string>(
  text: string | undefined,
  flag: string,
  known: (word: string) => word is Word,
): Record<string, Word> | undefined {
  if (text === undefined) return undefined
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const at = pair.lastIndexOf('=')
      const word = pair.slice(at + 1).trim()
      if (at < 1 || !known(word)) throw new WrongUsage(`${flag} cannot take ${JSON.stringify(pair)}`)
      return [pair.slice(0, at).trim(), word]
    }),
  )
}

function inWords(report: ReconciliationReport): string {
  const { id, endpoint, state, reason, from_at, to_at, counts, breaks } = report
  const classes = Object.entries(counts).flatMap(([kind, found]) =>
    Object.entries(found).map(([name, items]) => [kind, name, items]),
  )
  const open = breaks.filter((one) => one.state === 'open').length
  const parts = [
    list([
      ['run', `${id} of ${endpoint}`],
      ['window', from_at === null ? 'the whole file' : `${time(from_at)} to ${time(to_at)} UTC`],
      ['ended', state === 'done' ? 'at the end of every list' : reason],
    ]),
    classes.length === 0 ? 'Nothing was listed.\n' : table(['kind', 'class', 'items'], classes),
    breaks.length === 0 ? '' : table(BREAK_HEAD, breaks.map(breakCells)),
    open === 0
      ? 'No difference is open.\n'
      : `${open} differences are open: \`paidonce breaks explain <id>\`.\n`,
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function runsInWords(runs: readonly ReconciliationRow[]): string {
  if (runs.length === 0) return 'Nothing was ever reconciled.\n'
  return table(
    ['run', 'endpoint', 'started', 'window', 'state', 'why'],
    runs.map((run) => [
      run.id,
      run.endpoint,
      run.started_at,
      run.from_at === null ? 'file' : `${time(run.from_at)} to ${time(run.to_at)}`,
      run.state,
      run.reason,
    ]),
  )
}
