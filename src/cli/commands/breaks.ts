import { userInfo } from 'node:os'
import type { BreakRow } from '../../store/queries/list-breaks.ts'
import { type Register, WrongUsage, wholeNumber } from '../command.ts'
import { csv } from '../csv.ts'
import { type Cell, list, money, table } from '../table.ts'

interface ListFlags {
  readonly all?: boolean
  readonly class?: string
  readonly endpoint?: string
  readonly run?: number
  readonly limit: number
  readonly csv?: boolean
}

interface DecideFlags {
  readonly reason: string
  readonly actor?: string
}

export const BREAK_HEAD: readonly string[] = [
  'break',
  'state',
  'class',
  'kind',
  'id',
  'payment',
  'ours',
  'theirs',
  'since',
  'why',
]

export const registerBreaks: Register = (program, act) => {
  const breaks = program
    .command('breaks')
    .description('where a provider and we differ, and what people say about it')
  const listing = breaks
    .command('list')
    .description('open differences, or all; exit status 1 when one is open')
    .option('--all', 'those that are over too')
    .option('--class <name>', 'only this class')
    .option('--endpoint <name>', 'only this endpoint')
    .option('--run <id>', 'only those that this run saw last', wholeNumber(1))
    .option('--limit <n>', 'at most so many', wholeNumber(1), 100)
    .option('--csv', 'print CSV')
  act<ListFlags>(listing, async (context, flags) => {
    const paidonce = await context.open()
    const rows = await paidonce.breaks.list({
      state: flags.all ? undefined : 'open',
      class: flags.class,
      endpoint: flags.endpoint,
      run: flags.run === undefined ? undefined : BigInt(flags.run),
      limit: flags.limit,
    })
    if (flags.csv && !context.common.json) context.out.write(csv([BREAK_HEAD, ...rows.map(breakCells)]))
    else
      context.answer(rows, () =>
        rows.length === 0 ? 'Both sides agree.\n' : table(BREAK_HEAD, rows.map(breakCells)),
      )
    return rows.some(({ state }) => state === 'open') ? 1 : 0
  })
  for (const [name, words] of [
    ['explain', 'say why the sides differ; it stays so while the difference is the same'],
    ['write-off', 'give a difference up; no money and no right changes by it'],
  ] as const) {
    const command = breaks
      .command(`${name} <break>`)
      .description(words)
      .requiredOption('--reason <text>', 'why, for those who look later')
      .option('--actor <name>', 'who decides (default: your user name here)')
    act<DecideFlags>(command, async (context, { reason, actor }, id = '') => {
      if (!/^\d{1,18}$/.test(id))
        throw new WrongUsage(`a break is named by its number, not ${JSON.stringify(id)}`)
      const paidonce = await context.open()
      const decision = { id: BigInt(id), actor: actor ?? userInfo().username, reason }
      const row = await (name === 'explain'
        ? paidonce.breaks.explain(decision)
        : paidonce.breaks.writeOff(decision))
      context.answer(row, () =>
        list([
          ['break', row.id],
          ['about', `${row.kind} ${row.item_id}`],
          ['is now', row.state],
        ]),
      )
      return 0
    })
  }
}

export function breakCells(row: BreakRow): readonly Cell[] {
  return [
    row.id,
    row.state,
    row.class,
    row.kind,
    row.item_id,
    row.payment === row.item_id ? '' : row.payment,
    side(row.our_status, row.our_minor, row.our_currency),
    side(row.their_status, row.their_minor, row.their_currency),
    row.first_found_at,
    row.reason || row.place,
  ]
}

function side(status: string, minor: string | null, currency: string): string {
  const amount = minor === null || currency === '' ? '' : money(minor, currency)
  return [status, amount].filter((part) => part !== '').join(' ')
}
