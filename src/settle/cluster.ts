import type { Fact } from '../facts/fact.ts'
import { subjectKey } from '../facts/subject.ts'
import { eventLock } from '../store/queries/insert-events.ts'
import type { SettleItem } from './item.ts'

/** Groups what waits for the same locks, as far as the items themselves name them, in the order of each group's first. */
export function clusters<T extends { readonly item: SettleItem }>(part: readonly T[]): T[][] {
  const parents = new Map<string, string>()
  const rootOf = (lock: string): string => {
    let root = lock
    for (let above = parents.get(root); above !== undefined; above = parents.get(root)) root = above
    return root
  }
  const locks = part.map(({ item }) => locksOf(item))
  for (const [first, ...others] of locks) {
    for (const other of others) {
      const [from, to] = [rootOf(other), rootOf(first!)]
      if (from !== to) parents.set(from, to)
    }
  }
  const groups = new Map<string, T[]>()
  for (const [index, entry] of part.entries()) {
    const [first] = locks[index]!
    const name = first === undefined ? `none ${index}` : rootOf(first)
    const group = groups.get(name)
    if (group) group.push(entry)
    else groups.set(name, [entry])
  }
  return [...groups.values()]
}

function locksOf({ tenant, event, touches, facts }: SettleItem): string[] {
  const named = [...touches.map(subjectKey), ...facts.flatMap(namedBy)].map((key) => `${tenant}\n${key}`)
  return event ? [`event\n${eventLock(event)}`, ...named] : named
}

function namedBy({ subject, kind, content }: Fact): string[] {
  const keys = [subjectKey(subject)]
  if (kind === 'payment_link' && subject.kind === 'payment') {
    keys.push(subjectKey({ ...subject, id: content.payment }))
  }
  if ('subscription' in content && content.subscription && subject.kind === 'payment') {
    keys.push(subjectKey({ ...subject, kind: 'subscription', id: content.subscription }))
  }
  if ('order' in content && content.order) keys.push(subjectKey({ kind: 'order', reference: content.order }))
  return keys
}
