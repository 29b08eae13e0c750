import type { Fact } from '../facts/fact.ts'
import type { ListedKind, Lookup, LookupContext, Window } from '../providers/lookup.ts'

/**
 * Looks through everything that the provider lists in a window for what carries one of these keys. Gives its facts, or
 * null when the whole window was listed and it was not there.
 * @throws Fault `provider_unavailable` when a page could not be had: then nothing is known
 */
export async function listTells(
  lookup: Lookup,
  kind: ListedKind,
  window: Window,
  keys: ReadonlySet<string>,
  context: LookupContext,
): Promise<readonly Fact[] | null> {
  for await (const page of lookup.list!(kind, window, context)) {
    for (const { facts } of page) if (facts.some((fact) => keys.has(operationOf(fact)))) return facts
  }
  return null
}

function operationOf(fact: Fact): string {
  return 'operation' in fact.content ? (fact.content.operation ?? '') : ''
}
