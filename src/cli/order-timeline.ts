import { factInWords } from './fact-words.ts'
import type { OrderStory } from './order-story.ts'
import { money, time } from './table.ts'

interface Entry {
  readonly at: Date
  readonly what: string
  /** What it rests on: the fact and who told it, or how it ended. */
  readonly because: string
}

/** Everything that happened to an order, oldest first: what came, what was decided, what was granted, what left. */
export function orderTimeline(story: OrderStory): [string, string, string][] {
  // What one transaction wrote stays in the order in which it was derived: facts, exceptions, rights and effects.
  return [
    ...story.facts.map((fact) => factEntry(fact)),
    ...story.answers.map((answer) => answerEntry(answer)),
    ...story.operations.map((operation) => operationEntry(operation)),
    ...story.exceptions.flatMap((exception) => exceptionEntries(exception)),
    ...story.effects.map((effect) => effectEntry(effect)),
  ]
    .map((entry, place) => ({ ...entry, place }))
    .sort((a, b) => a.at.getTime() - b.at.getTime() || a.place - b.place)
    .map(({ at, what, because }) => [time(at), what, because])
}

function factEntry(fact: OrderStory['facts'][number]): Entry {
  const words = factInWords(fact.kind, fact.content, fact.about, fact.fact_key)
  const told_by = fact.witnesses.map(witnessInWords).join('\n') || 'nobody any more'
  return {
    at: fact.recorded_at,
    what: fact.live ? words : `${words} (taken back)`,
    because: `${fact.fact_key}\n${told_by}`,
  }
}

function witnessInWords(witness: OrderStory['facts'][number]['witnesses'][number]): string {
  if (witness.event_key === null) return SOURCES[witness.source_kind] ?? witness.source_kind
  const again = witness.copies > 0n ? `, came ${witness.copies + 1n} times` : ''
  return `${witness.type} ${witness.event_key}${again}`
}

const SOURCES: Readonly<Record<string, string>> = {
  merchant: 'told by us',
  lookup: 'the provider said so when it was asked',
  operation: 'the answer to what we asked for',
  decision: 'a person',
}

function answerEntry(answer: OrderStory['answers'][number]): Entry {
  const reason = answer.reason === '' ? '' : `: ${answer.reason}`
  return {
    at: answer.answered_at,
    what: `asked about ${answer.object} ${answer.object_id}: ${answer.outcome.replaceAll('_', ' ')}${reason}`,
    because: `asked for by ${answer.asked_by}; ${answer.facts} facts`,
  }
}

function operationEntry(operation: OrderStory['operations'][number]): Entry {
  const ended = operation.finished_at === null ? '' : ` ${time(operation.finished_at)}`
  const reason = operation.reason === '' ? '' : `: ${operation.reason}`
  return {
    at: operation.created_at,
    what: `asked for a ${operation.kind} of ${money(operation.amount_minor, operation.currency)}`,
    because: `${operation.operation_key}\n${operation.state.replaceAll('_', ' ')}${ended}${reason}`,
  }
}

function exceptionEntries(exception: OrderStory['exceptions'][number]): Entry[] {
  const opened = {
    at: exception.opened_at,
    what: `a person is asked (${exception.severity}): ${exception.message}`,
    because: `${exception.kind} ${exception.cause}`,
  }
  if (exception.closed_at === null) return [opened]
  const who = exception.closed_by === '' ? 'the facts explain it now' : `by ${exception.closed_by}`
  return [
    opened,
    { at: exception.closed_at, what: `no longer asked: ${exception.kind} ${exception.cause}`, because: who },
  ]
}

/** What leaves this database, by topic. */
const LEAVING: Readonly<Record<string, string>> = {
  'exception.opened': 'alert to a person',
  'receipt.due': 'receipt to the buyer',
  'refund.due': 'refund to be asked for',
}

function effectEntry(effect: OrderStory['effects'][number]): Entry {
  const { state } = effect.payload
  const about = effect.item === '-' ? '' : ` ${effect.item}`
  const what =
    typeof state === 'string' && effect.topic === 'entitlement.changed'
      ? `right${about} is ${state}`
      : (LEAVING[effect.topic] ?? `${effect.topic}${about}`)
  const ended = effect.finished_at === null ? '' : ` ${time(effect.finished_at)}`
  return {
    at: effect.created_at,
    what,
    because: `${effect.topic}\nsent out: ${effect.state}${ended}, ${effect.attempts} attempts`,
  }
}
