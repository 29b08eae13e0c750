import { Fault } from '../../facts/fault.ts'
import {
  findEventsByKey,
  type ListedEvent,
  listEvents,
  listToldFacts,
  type ToldFact,
} from '../../store/queries/list-events.ts'
import {
  loadEventVersions,
  loadStoredEvents,
  type StoredVersion,
} from '../../store/queries/list-stored-events.ts'
import { type Register, wholeNumber } from '../command.ts'
import { list, table, time } from '../table.ts'

interface EventFlags {
  readonly state?: string
  readonly type?: string
  readonly endpoint?: string
  readonly limit: number
}

interface ShownEvent {
  readonly event: ListedEvent
  readonly body: Buffer | null
  readonly versions: readonly StoredVersion[]
  readonly facts: readonly ToldFact[]
}

export const registerEvents: Register = (program, act) => {
  const events = program.command('events').description('the messages that arrived')
  const listed = events
    .command('list')
    .description('events, newest first')
    .option('--state <state>', 'settled, kept, ignored, misdirected or unreadable')
    .option('--type <type>', 'only this type')
    .option('--endpoint <name>', 'only this endpoint')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 50)
  act<EventFlags>(listed, async (context, { state, type, endpoint, limit }) => {
    const { database, installation } = await context.open()
    const rows: ListedEvent[] = []
    for (let bucket = 0; bucket < installation.buckets; bucket += 1) {
      rows.push(...(await listEvents(database, bucket, { state, type, endpoint, limit })))
    }
    context.answer(rows, () => listInWords(rows))
    return 0
  })
  const shown = events
    .command('show <key>')
    .description('one event: how it was filed, what it told, its bytes with --body')
    .option('--body', 'print the bytes of its first content and nothing else')
  act<{ readonly body?: boolean }>(shown, async (context, { body }, key) => {
    const { database, installation } = await context.open()
    const found: ShownEvent[] = []
    for (let bucket = 0; bucket < installation.buckets; bucket += 1) {
      for (const event of await findEventsByKey(database, bucket, key!)) {
        const [[stored], versions, facts] = await Promise.all([
          loadStoredEvents(database, bucket, [event.id]),
          loadEventVersions(database, bucket, [event.id]),
          listToldFacts(database, bucket, event.id),
        ])
        found.push({ event, body: stored?.body ?? null, versions, facts })
      }
    }
    if (found.length === 0) {
      throw new Fault('not_found', `No event has the key ${key}. List them with \`paidonce events list\`.`)
    }
    if (body) {
      context.out.write(found[0]!.body?.toString('utf8') ?? '')
      return 0
    }
    context.answer(found.map(asAnswer), () => found.map(inWords).join('\n'))
    return 0
  })
}

function listInWords(rows: readonly ListedEvent[]): string {
  if (rows.length === 0) return 'No such events.\n'
  return table(
    ['received', 'endpoint', 'type', 'key', 'copies', 'state', 'reason'],
    rows.map((row) => [
      time(row.received_at),
      row.endpoint,
      row.type,
      row.event_key,
      row.copies,
      row.state,
      row.why_kept ?? row.reason,
    ]),
  )
}

/** The bytes themselves are shown with `--body` only: they may hold what a log must not. */
function asAnswer({ event, body, versions, facts }: ShownEvent) {
  return {
    ...event,
    body_bytes: body?.byteLength ?? null,
    contents: 1 + versions.length,
    facts,
  }
}

function inWords({ event, body, versions, facts }: ShownEvent): string {
  const why = event.why_kept ?? event.reason
  const told = facts.map((fact) => [
    `${fact.subject_kind} ${fact.subject}`,
    fact.fact_key,
    JSON.stringify(fact.content),
  ])
  return [
    list([
      ['key', event.event_key],
      ['type', event.type],
      ['endpoint', `${event.endpoint} (${event.provider}/${event.account}, ${event.mode})`],
      ['state', why === '' ? event.state : `${event.state}: ${why}`],
      ['occurred', event.occurred_at],
      ['received', event.received_at],
      ['came again', `${event.copies} times`],
      ['contents', 1 + versions.length],
      ['body', body ? `${body.byteLength} bytes` : 'emptied'],
      ['secret', event.secret_label],
      ['adapter', event.adapter_version],
    ]),
    told.length > 0 ? table(['about', 'fact', 'content'], told) : 'It told nothing that counts.\n',
  ].join('\n')
}
