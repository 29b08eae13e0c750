import { type ReplayReport, replay } from '../../receive/replay.ts'
import type { EventState } from '../../store/queries/insert-events.ts'
import { type Register, WrongUsage } from '../command.ts'
import { list, table } from '../table.ts'

interface ReplayFlags {
  readonly state?: string
  readonly key?: string
  readonly endpoint?: string
  readonly type?: string
  readonly all?: boolean
  readonly dryRun?: boolean
}

const STATES: readonly EventState[] = ['settled', 'kept', 'ignored', 'misdirected', 'unreadable']

export const registerReplay: Register = (program, act) => {
  const command = program
    .command('replay')
    .description('read stored events again with the present adapters, in place of what they told before')
    .option('--state <state>', `only events in this state: ${STATES.join(', ')}`)
    .option('--key <key>', 'only the event with this key (the provider’s event id)')
    .option('--endpoint <name>', 'only events of this endpoint')
    .option('--type <type>', 'only events of this type')
    .option('--all', 'every event')
    .option('--dry-run', 'show what would change and write nothing')
  act<ReplayFlags>(command, async (context, flags) => {
    const { key, endpoint, type } = flags
    const state = asState(flags.state)
    if (!flags.all && [state, key, endpoint, type].every((value) => value === undefined)) {
      throw new WrongUsage('say which events: --state, --key, --endpoint, --type, or --all')
    }
    const { settler, endpoints, installation } = await context.open()
    const report = await replay(settler.context, installation.buckets, endpoints, {
      selection: { state, key, endpoint, type },
      dry_run: flags.dryRun ?? false,
      onProgress: (done, total) => context.progress({ label: 'Reading again', done, total }),
    })
    context.progress(null)
    context.answer(report, () => inWords(report))
    return report.refused === 0 ? 0 : 1
  })
}

function asState(text: string | undefined): EventState | undefined {
  const state = STATES.find((known) => known === text)
  if (text !== undefined && state === undefined) {
    throw new WrongUsage(`there is no event state ${text}; there are ${STATES.join(', ')}`)
  }
  return state
}

function inWords(report: ReplayReport): string {
  const refiled = report.refiled.map(({ event, before, after }) => [event, before, after])
  const changes = report.changes.map((one) => [one.table, one.row, one.column, one.before, one.after])
  const refusals = report.refusals.map(({ event, reason }) => [event, reason])
  return [
    list([
      [report.dry_run ? 'would be read again' : 'read again', report.replayed],
      ['kept for later', report.kept],
      ['emptied by retention', report.emptied],
      ['refused', report.refused],
    ]),
    refiled.length > 0 ? table(['event', 'was', report.dry_run ? 'would be' : 'is'], refiled) : '',
    changes.length > 0 ? table(['table', 'row', 'column', 'now', 'would be'], changes) : '',
    refusals.length > 0 ? table(['event', 'refused because'], refusals) : '',
  ]
    .filter((part) => part !== '')
    .join('\n')
}
