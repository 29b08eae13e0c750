import type { Fact, FactContent, FactKind } from '../facts/fact.ts'
import type { Subject } from '../facts/subject.ts'
import { subjectKey } from '../facts/subject.ts'
import type { Conflict } from './conflict.ts'
import { compareText, instantOf } from './instant.ts'

/** What all facts of one key of one subject say together. */
export interface StatementOf<K extends FactKind> {
  readonly subject: Subject
  readonly key: string
  readonly kind: K
  readonly content: FactContent[K]
}

export type Statement = { [K in FactKind]: StatementOf<K> }[FactKind]

export interface United {
  /** One per (subject, key), sorted by them. */
  readonly statements: readonly Statement[]
  readonly conflicts: readonly Conflict[]
}

/**
 * Unites the facts of each key field by field: a field left out is no information, and two different values are a
 * conflict. A field in conflict holds the lowest value, only so that the result is a function of the set: nothing
 * acts on it, since its object is `conflicted`.
 */
export function unite(facts: readonly Fact[]): United {
  const groups = new Map<string, [Fact, ...Fact[]]>()
  const sole = facts.every((fact) => sameSubject(fact.subject, facts[0]!.subject))
  for (const fact of facts) {
    const name = sole ? fact.key : `${subjectKey(fact.subject)}\n${fact.key}`
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [fact])
    else group.push(fact)
  }
  const statements: Statement[] = []
  const conflicts: Conflict[] = []
  for (const name of [...groups.keys()].sort(compareText)) {
    const group = groups.get(name)!
    const united = uniteGroup(group)
    statements.push(united.statement)
    conflicts.push(...united.conflicts)
  }
  return { statements, conflicts }
}

/** The statements of one kind, with their content's type. */
export function ofKind<K extends FactKind>(statements: readonly Statement[], kind: K): StatementOf<K>[] {
  return statements.filter((statement) => statement.kind === kind) as unknown as StatementOf<K>[]
}

type Fields = Record<string, unknown>

function uniteGroup(group: readonly [Fact, ...Fact[]]): { statement: Statement; conflicts: Conflict[] } {
  const [first, ...rest] = group
  if (rest.length === 0) return { statement: first, conflicts: [] }
  const content: Fields = {}
  const conflicts: Conflict[] = []
  for (const [field, told] of valuesByField(group)) {
    const values = differentValues(told)
    content[field] = values[0]
    if (values.length > 1) {
      const detail = `${field} is told as ${values.map(valueText).join(' and ')}`
      conflicts.push({ cause: first.key, detail })
    }
  }
  return { statement: { ...first, content } as unknown as Statement, conflicts }
}

function valuesByField(group: readonly Fact[]): [string, unknown[]][] {
  const fields = new Map<string, unknown[]>()
  for (const fact of group) {
    for (const [field, value] of Object.entries(fact.content)) {
      if (value === null || value === undefined) continue
      const told = fields.get(field)
      if (told === undefined) fields.set(field, [value])
      else told.push(value)
    }
  }
  return [...fields].sort(([a], [b]) => compareText(a, b))
}

/** Lowest first; of equal values the lowest spelling. */
function differentValues(told: readonly unknown[]): unknown[] {
  if (told.every((value) => value === told[0])) return [told[0]]
  const different: unknown[] = []
  for (const value of [...told].sort(compareValues)) {
    if (!different.some((held) => sameValue(held, value))) different.push(value)
  }
  return different
}

function sameSubject(a: Subject, b: Subject): boolean {
  return a === b || subjectKey(a) === subjectKey(b)
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

/** Equal values, where two spellings of one instant are equal too. */
function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a === 'string' && typeof b === 'string') {
    return (
      ISO_TIME.test(a) && ISO_TIME.test(b) && instantOf(a) === instantOf(b) && Number.isFinite(instantOf(a))
    )
  }
  return typeof a === 'object' && typeof b === 'object' && valueText(a) === valueText(b)
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0
  return compareText(valueText(a), valueText(b))
}

/** Canonical text: names sorted, so that equal values have equal text. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint') return `${value}`
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = value as Fields
    const names = Object.keys(fields).sort(compareText)
    return `{${names.map((name) => `${name}: ${valueText(fields[name])}`).join(', ')}}`
  }
  return JSON.stringify(value ?? null)
}
