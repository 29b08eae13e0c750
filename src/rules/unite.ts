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
  const merged: Fields = {}
  const disputed = new Map<string, Map<string, unknown>>()
  for (const fact of group) {
    for (const [field, value] of Object.entries(fact.content)) {
      if (value === null || value === undefined) continue
      const held = merged[field]
      if (held === undefined) merged[field] = value
      else if (!sameValue(held, value)) {
        const values = disputed.get(field) ?? new Map([[valueText(held), held]])
        disputed.set(field, values.set(valueText(value), value))
        if (isLower(value, held)) merged[field] = value
      } else if (isLower(value, held)) merged[field] = value
    }
  }
  const conflicts = [...disputed.keys()].sort(compareText).map((field): Conflict => {
    const said = [...disputed.get(field)!.keys()].sort(compareText).join(' and ')
    return { cause: first.key, detail: `${field} is told as ${said}` }
  })
  return { statement: { ...first, content: merged } as unknown as Statement, conflicts }
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

function isLower(a: unknown, b: unknown): boolean {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b
  return compareText(valueText(a), valueText(b)) < 0
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
