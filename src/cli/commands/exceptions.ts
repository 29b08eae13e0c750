import type { ExceptionKind, Severity } from '../../facts/exception.ts'
import type { Exception, ExceptionAct, ExceptionStory, Exceptions } from '../../watch/exceptions.ts'
import { type Register, WrongUsage, wholeNumber } from '../command.ts'
import { list, time } from '../table.ts'

interface ListFlags {
  readonly all?: boolean
  readonly kind?: string
  readonly severity?: string
  readonly owner?: string
  readonly unowned?: boolean
  readonly subject?: string
  readonly olderThan?: number
  readonly tenant?: string
  readonly limit: number
}

interface ActFlags {
  readonly actor?: string
}

const HOUR_MS = 3_600_000
const SEVERITIES: ReadonlySet<string> = new Set(['notice', 'warning', 'urgent'])

export const registerExceptions: Register = (program, act) => {
  const exceptions = program.command('exceptions').description('what a person must decide')
  const listed = exceptions
    .command('list', { isDefault: true })
    .description('exceptions, urgent first; open ones unless --all is given')
    .option('--all', 'closed ones too')
    .option('--kind <kind>', 'only this kind')
    .option('--severity <severity>', 'only urgent, warning or notice')
    .option('--owner <name>', 'only those that somebody has')
    .option('--unowned', 'only those that nobody has')
    .option('--subject <key>', 'only about this order, payment (namespace/account/id) or endpoint')
    .option('--older-than <hours>', 'only those that have been open for so long', wholeNumber(0))
    .option('--tenant <name>', 'only those of this tenant')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 100)
  act<ListFlags>(listed, async (context, { all, unowned, owner, olderThan, severity, kind, ...rest }) => {
    if (severity !== undefined && !SEVERITIES.has(severity))
      throw new WrongUsage(`a severity is urgent, warning or notice, not ${JSON.stringify(severity)}`)
    const { exceptions } = await context.open()
    const found = await exceptions.list({
      ...rest,
      state: all ? 'all' : 'open',
      kind: kind as ExceptionKind | undefined,
      severity: severity as Severity | undefined,
      owner: unowned ? '' : owner,
      older_than_ms: olderThan === undefined ? undefined : olderThan * HOUR_MS,
    })
    context.answer(found, () => listInWords(found))
    return 0
  })

  const shown = exceptions.command('show <id>').description('one exception with its history')
  act(shown, async (context, _flags, id) => {
    const story = await (await context.open()).exceptions.show(numberOf(id!))
    context.answer(story, () => storyInWords(story))
    return 0
  })

  const acting = <Flags extends ActFlags>(
    usage: string,
    description: string,
    work: (exceptions: Exceptions, by: ExceptionAct, words: string, flags: Flags) => Promise<void>,
    done: string,
    option?: readonly [string, string],
  ) => {
    const command = exceptions
      .command(usage)
      .description(description)
      .option('--actor <name>', 'who does it (default: the user of this machine)')
    if (option) command.requiredOption(...option)
    act<Flags>(command, async (context, flags, id, words = '') => {
      const actor = flags.actor ?? process.env.USER ?? process.env.USERNAME ?? 'command line'
      const by = { id: numberOf(id!), actor }
      const { exceptions } = await context.open()
      await work(exceptions, by, words, flags)
      const story = await exceptions.show(by.id)
      context.answer(story, () => `Exception ${id} ${done}.\n`)
      return 0
    })
  }
  acting(
    'assign <id> <owner>',
    'give it to somebody; an empty name gives it to nobody',
    (exceptions, by, owner) => exceptions.assign({ ...by, owner }),
    'has its owner',
  )
  acting(
    'acknowledge <id>',
    'say that somebody has seen it',
    (exceptions, by) => exceptions.acknowledge(by),
    'is seen',
  )
  acting(
    'note <id> <text>',
    'write something down about it',
    (exceptions, by, text) => exceptions.note({ ...by, text }),
    'has another note',
  )
  acting<ActFlags & { readonly reason: string }>(
    'resolve <id>',
    'close it by hand, with a reason; what the rules raise closes only by facts or decisions',
    (exceptions, by, _words, { reason }) => exceptions.resolve({ ...by, reason }),
    'is closed; it opens again by itself if its cause still holds',
    ['--reason <text>', 'why; kept with the exception'],
  )
}

function numberOf(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text)
  throw new WrongUsage(`an exception has a number, not ${JSON.stringify(text)}`)
}

function listInWords(rows: readonly Exception[]): string {
  if (rows.length === 0) return 'Nothing waits for a decision.\n'
  const told = rows.map((row) => `${headOf(row)}\n  ${row.message}\n  Next: ${row.next}.\n`)
  return [
    ...told,
    `\n${rows.length} shown. \`paidonce exceptions show ID\` tells the history of one.\n`,
  ].join('')
}

function headOf(row: Exception): string {
  const state = row.state === 'open' ? `open for ${ageOf(row.age_ms)}` : `closed ${time(row.closed_at)}`
  const had = row.owner === '' ? '' : `  ${row.owner}'s`
  const seen = row.acknowledged_at === null ? '' : `  seen by ${row.acknowledged_by}`
  const again = row.occurrence === 1 ? '' : `  opened ${row.occurrence} times`
  return `${row.id}  ${row.severity}  ${row.kind}  ${row.subject_kind} ${row.subject_key}  ${state}${had}${seen}${again}`
}

function storyInWords(story: ExceptionStory): string {
  const { history, ...row } = story
  return [
    `${headOf(row)}\n  ${row.message}\n`,
    list([
      ['next', row.next],
      ['closed by', row.state === 'closed' ? row.closed_by || 'facts' : row.ends],
      ['owner', row.owner],
      ['seen by', row.acknowledged_by],
      ['cause', row.cause],
    ]),
    '\n',
    ...history.map(({ noted_at, kind, actor, words }) => {
      const who = actor === '' ? '' : ` by ${actor}`
      return `${time(noted_at)}  ${kind}${who}${words === '' ? '' : `: ${words}`}\n`
    }),
  ].join('')
}

/** The two largest units, so that it reads at a glance. */
function ageOf(age_ms: number): string {
  const minutes = Math.floor(age_ms / 60_000)
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}
