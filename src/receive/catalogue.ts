import { Fault } from '../facts/fault.ts'
import type { OrderItem } from '../facts/order.ts'
import { cleanText } from '../providers/field.ts'
import type { Catalogue } from '../settle/work.ts'
import type { Database } from '../store/database.ts'
import { loadOpenExceptionsOf } from '../store/queries/close-exceptions.ts'
import { markUnsettled } from '../store/queries/mark-unsettled.ts'
import { itemsProblem, pinnedItems } from './order-items.ts'

/** Checks a catalogue as the items of an order are checked. Throws Fault `config_invalid`. */
export function readCatalogue(given: Readonly<Record<string, readonly OrderItem[]>> | undefined): Catalogue {
  const entries = Object.entries(given ?? {}).map(([price, items]) => {
    const refuse = (what: string): never => {
      throw new Fault(
        'config_invalid',
        `Price ${JSON.stringify(price).slice(0, 80)} of \`catalogue\`: ${what}`,
      )
    }
    if (cleanText(price) === undefined)
      refuse("give the provider's price id: 1 to 255 characters, no control characters.")
    if (!Array.isArray(items)) refuse('give a list of items.')
    const problem = itemsProblem(items)
    if (problem !== null) refuse(problem)
    const counted = items.find(({ credits }) => credits)
    if (counted)
      refuse(
        `${counted.item} are credits, and no message tells which periods were paid at which price. Give them in an order with items of its own.`,
      )
    return [price, pinnedItems(items)] as const
  })
  return new Map(entries)
}

/**
 * Marks the orders that wait for a price which the catalogue knows now, so that they are settled like what was kept. Gives
 * how many there are.
 */
export async function markMended(
  database: Database,
  buckets: number,
  catalogue: Catalogue,
  now: Date,
): Promise<number> {
  if (catalogue.size === 0) return 0
  let count = 0
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const open = await loadOpenExceptionsOf(database, bucket, 'rules', ['unmapped_event'])
    const mended = open.filter(({ subject_kind, cause }) => subject_kind === 'order' && catalogue.has(cause))
    const orders = new Map(
      mended.map(({ tenant, subject_key }) => [`${tenant}\n${subject_key}`, { tenant, subject_key }]),
    )
    const marks = [...orders.values()].map(({ tenant, subject_key }) => ({
      tenant,
      event_id: 0n,
      order_ref: subject_key,
      reason: 'catalogue',
      last_error: '',
      next_attempt_at: now,
    }))
    if (marks.length > 0) await markUnsettled(database, bucket, now, marks)
    count += marks.length
  }
  return count
}
