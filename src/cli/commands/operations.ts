import type { Operations } from '../../operations/operations.ts'
import type { OperationState } from '../../rules/operation-state.ts'
import { type Register, WrongUsage, wholeNumber } from '../command.ts'
import { actorName, operationInWords, operationTable, storyInWords } from '../operation-words.ts'

interface ListFlags {
  readonly state?: string
  readonly kind?: string
  readonly payment?: string
  readonly order?: string
  readonly tenant?: string
  readonly limit: number
}

interface SaidFlags {
  readonly reason: string
  readonly actor?: string
  readonly tenant?: string
}

interface ResolveFlags extends SaidFlags {
  readonly succeeded?: string
  readonly failed?: boolean
}

const STATES: readonly OperationState[] = [
  'planned',
  'in_flight',
  'succeeded',
  'failed_definitive',
  'unknown',
  'abandoned',
  'superseded',
]

export const registerOperations: Register = (program, act) => {
  const operations = program
    .command('operations')
    .description('charges and refunds that were asked for, and what became of them')
  const listed = operations
    .command('list')
    .description('operations, newest first')
    .option('--state <state>', `only these, with commas between: ${STATES.join(', ')}`)
    .option('--kind <kind>', 'refund or charge')
    .option('--payment <id>', 'refunds of this payment')
    .option('--order <reference>', 'charges of this order')
    .option('--tenant <name>', 'only those of this tenant')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 50)
  act<ListFlags>(listed, async (context, { state, kind, ...query }) => {
    const filter = { ...query, states: readStates(state), kind: readKind(kind) }
    const rows = await (await context.open()).operations.list(filter)
    context.answer(rows, () => operationTable(rows))
    return 0
  })
  const shown = operations
    .command('show <key>')
    .description('one operation with every request that was sent and everything that was said')
    .option('--tenant <name>', 'whose it is')
  act<{ tenant?: string }>(shown, async (context, { tenant }, key = '') => {
    const story = await (await context.open()).operations.show(key, tenant)
    context.answer(story, () => storyInWords(story))
    return story.state === 'unknown' || story.waits_for_person ? 1 : 0
  })
  const resolving = said(
    'resolve',
    'say what became of an operation that nobody knew about, with the evidence',
  )
    .option('--succeeded <id>', "it happened: the provider's id of the refund or payment")
    .option('--failed', 'it did not happen, and will not')
  act<ResolveFlags>(resolving, async (context, flags, key = '') => {
    const { succeeded: provider_id, failed } = flags
    if ((provider_id === undefined) === (failed !== true))
      throw new WrongUsage('say either --succeeded with the id, or --failed')
    const outcome = failed ? 'failed' : 'succeeded'
    const { operations } = await context.open()
    const resolved = await operations.resolve({ ...words(key, flags), outcome, provider_id })
    context.answer(resolved, () => operationInWords(resolved))
    return 0
  })
  for (const [name, description] of [
    ['retry', 'begin a new attempt of a refused one, or look again at one that waits'],
    ['confirm', 'send a refund that waits, although a dispute is open'],
    ['abandon', 'give an operation up'],
  ] as const) {
    act<SaidFlags>(said(name, description), async (context, flags, key = '') => {
      const { operations } = await context.open()
      const done = await operations[name satisfies keyof Operations](words(key, flags))
      context.answer(done, () => operationInWords(done))
      return 0
    })
  }

  function said(name: string, description: string) {
    return operations
      .command(`${name} <key>`)
      .description(description)
      .requiredOption('--reason <text>', 'the evidence, or why; for those who look later')
      .option('--actor <name>', 'who says so (default: your user name here)')
      .option('--tenant <name>', 'whose it is')
  }
}

function words(key: string, { reason, actor, tenant }: SaidFlags) {
  return { key, reason, actor: actorName(actor), tenant }
}

function readStates(text: string | undefined): readonly OperationState[] | undefined {
  if (text === undefined) return undefined
  return text.split(',').map((name) => {
    const state = STATES.find((one) => one === name.trim())
    if (state) return state
    throw new WrongUsage(`there is no state ${JSON.stringify(name)}; there are ${STATES.join(', ')}`)
  })
}

function readKind(kind: string | undefined): 'refund' | 'charge' | undefined {
  if (kind === undefined || kind === 'refund' || kind === 'charge') return kind
  throw new WrongUsage('--kind is refund or charge')
}
