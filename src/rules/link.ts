import type { Fact } from '../facts/fact.ts'
import type { Subject } from '../facts/subject.ts'
import type { Conflict } from './conflict.ts'
import { compareText } from './instant.ts'

/**
 * Which payment one is a stand-in of, from its own facts alone; null where they name none, or several.
 *
 * Whether the link holds depends on one thing more: a payment that others name as theirs is money of its own, so a link
 * from it is void and a contradiction. That decides chains and circles alike, in whatever order their links came.
 */
export function linkTarget(own: readonly Fact[]): string | null {
  return [...targetsOf(own).values()][0]?.payment ?? null
}

export interface Link {
  /** The payment's own subject; null when only a stand-in's facts are here, or when the links contradict each other. */
  readonly canonical: Subject | null
  readonly linked_to: string | null
  /** Id of the payment that the facts are about; left out where they do not say which it is. */
  readonly own?: string | undefined
  readonly conflicts: readonly Conflict[]
}

/**
 * Which of the subjects is the payment itself.
 * @param id of the payment that is asked about; left out, it is the one that links lead to
 * @param claimed others, whose facts may not be here, say that they stand in for it
 */
export function resolveLink(facts: readonly Fact[], id: string | undefined, claimed: boolean): Link {
  const subjects = new Map<string, Subject>()
  for (const { subject } of facts) if (subject.kind === 'payment') subjects.set(subject.id, subject)
  const targets = targetsOf(facts)
  const named = new Set([...targets.values()].flatMap(({ payment }) => payment ?? []))
  const holds = (from: string) => targets.get(from)?.payment != null && !named.has(from)
  const own = id ?? soleOf(subjects.keys()) ?? soleOf(roots(targets, holds))
  if (own === undefined) {
    if (targets.size === 0) return { canonical: null, linked_to: null, conflicts: [] }
    const detail = `payment is told as ${[...roots(targets, holds)].sort(compareText).join(' and ')}`
    return { canonical: null, linked_to: null, conflicts: [{ cause: 'link', detail }] }
  }
  const canonical = subjects.get(own) ?? null
  const target = targets.get(own)
  if (target === undefined) return { canonical, own, linked_to: null, conflicts: [] }
  // Told to stand in for several: the field contradicts itself, which is raised as such.
  if (target.payment === null) return { canonical: null, own, linked_to: null, conflicts: [] }
  if (holds(own) && !claimed) return { canonical: null, linked_to: target.payment, conflicts: [] }
  const detail = `it is told to be the money of ${target.payment}, and others are told to be its own money`
  return { canonical, own, linked_to: null, conflicts: [{ cause: 'link', detail }] }
}

/** What each subject says that it stands in for; null in place of a payment where it names several. */
function targetsOf(facts: readonly Fact[]): Map<string, { readonly payment: string | null }> {
  const told = new Map<string, Set<string>>()
  for (const { kind, subject, content } of facts) {
    if (kind !== 'payment_link' || subject.kind !== 'payment' || content.payment === subject.id) continue
    told.set(subject.id, (told.get(subject.id) ?? new Set()).add(content.payment))
  }
  return new Map([...told].map(([from, to]) => [from, { payment: soleOf(to) ?? null }]))
}

function roots(targets: ReturnType<typeof targetsOf>, holds: (from: string) => boolean): Set<string> {
  const found = new Set<string>()
  for (const [from, { payment }] of targets) found.add(holds(from) ? payment! : from)
  return found
}

function soleOf<T>(values: Iterable<T>): T | undefined {
  const [first, ...rest] = values
  return rest.length === 0 ? first : undefined
}
