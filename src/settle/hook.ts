import type { EntitlementState } from '../facts/entitlement.ts'
import { Fault } from '../facts/fault.ts'
import type { OrderTerms } from '../facts/order.ts'
import type { Parameter, Transaction } from '../store/database.ts'
import { lostRace } from '../store/driver-fault.ts'

/** A right that changes in the transaction at hand. */
export interface EntitlementChanged {
  readonly tenant: string
  readonly order: string
  /** The merchant's id of who gets it; left out where the order names nobody. */
  readonly holder?: string | undefined
  readonly item: string
  readonly quantity: number
  readonly state: EntitlementState
  readonly previous: EntitlementState
  /** Grows with every visible change of this item; a receiver ignores lower ones. */
  readonly revision: number
  /** Which life of the database the revision belongs to; a restored one counts anew under another epoch. */
  readonly epoch: bigint
}

/** What a holder has of an item changes in the transaction at hand, all orders of the holder taken together. */
export interface RightChanged {
  readonly tenant: string
  readonly holder: string
  readonly item: string
  /** Of all orders that grant it; 0 where none does. */
  readonly quantity: number
  readonly previous_quantity: number
  readonly state: EntitlementState
  readonly previous: EntitlementState
  /** Grows with every visible change of this holder's item; a receiver ignores lower ones. */
  readonly revision: number
  /** Which life of the database the revision belongs to; a restored one counts anew under another epoch. */
  readonly epoch: bigint
}

/**
 * The settling transaction as a merchant's hook sees it: queries go into it, and nothing else can be done with it.
 * Accepts `query(text, values)` and `query({ text, values })`. BEGIN, COMMIT and ROLLBACK (an ORM's own
 * `transaction()`) become savepoints. After the hook has returned or run out of time it refuses everything.
 */
export interface HookTransaction {
  query<Row = Record<string, unknown>>(
    query: string | { readonly text: string; readonly values?: readonly unknown[] },
    values?: readonly unknown[],
  ): Promise<{ rows: Row[]; rowCount: number }>
}

/**
 * Writes the merchant's own tables in the transaction that changes the right. Database work only: no call to another
 * service, no mail. May run more than once for one change when the transaction is repeated; what it wrote in a
 * transaction that did not commit is gone.
 */
export type OnEntitlement = (change: EntitlementChanged, tx: HookTransaction) => Promise<void> | void

/** Like `OnEntitlement`, for what a holder has from all orders together: the end of one takes nothing that another gives. */
export type OnRight = (change: RightChanged, tx: HookTransaction) => Promise<void> | void

/**
 * Looks up orders in the merchant's own tables, in the settling transaction, for references that nobody registered.
 * Gives terms by reference; a reference that is left out stays parked.
 */
export type FindOrders = (
  references: readonly string[],
  tx: HookTransaction,
  tenant: string,
) => Promise<ReadonlyMap<string, OrderTerms>>

/** Longest time that one hook call may take, milliseconds. Default 1,000. */
export const HOOK_LIMIT_MS = 1_000

/** The hook took too long; its connection is destroyed, so that no late query of it can run on one that commits. */
export class HookTimeout extends Error {}

/** The hook opens a transaction or makes a setting of its own, which must not mix with those of other orders. */
export class NeedsToBeAlone extends Error {}

/**
 * Runs a hook inside a savepoint of the transaction. Throws Fault `hook_failed` when the hook throws or when one of its
 * queries failed, even if the hook swallowed that; the savepoint is rolled back then and the transaction goes on.
 * Throws HookTimeout after `limit_ms`; the transaction is destroyed then. Throws the server's error when a query of the
 * hook lost a race (`lostRace`): that is nobody's fault, and the whole transaction is to be repeated.
 * @param alone false when the hooks of several orders run side by side on this savepoint
 */
export async function runHook<T>(
  tx: Transaction,
  limit_ms: number,
  hook: (facade: HookTransaction) => Promise<T> | T,
  alone = true,
): Promise<T> {
  const facade = new Facade(tx, alone)
  const opened = tx.query(SAVEPOINT)
  opened.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new HookTimeout(`A hook took longer than ${limit_ms} ms.`)), limit_ms)
  })
  try {
    const result = await Promise.race([Promise.resolve().then(() => hook(facade)), late])
    await facade.close()
    if (facade.failure !== undefined) throw facade.failure
    await Promise.all([opened, tx.query(RELEASE)])
    return result
  } catch (error) {
    facade.revoke()
    if (error instanceof HookTimeout) {
      await tx.destroy()
      throw error
    }
    await facade.close()
    await opened
    if (lostRace(facade.failure)) throw facade.failure
    await tx.query(ROLLBACK_TO)
    if (error instanceof NeedsToBeAlone) throw error
    throw new Fault(
      'hook_failed',
      'The hook failed; the event is kept and settled again later. See the cause.',
      {
        retriable: true,
        cause: error,
      },
    )
  } finally {
    clearTimeout(timer)
  }
}

const SAVEPOINT = { name: 'hook-savepoint', text: 'savepoint paidonce_hook' }
const RELEASE = { name: 'hook-release', text: 'release savepoint paidonce_hook' }
const ROLLBACK_TO = { name: 'hook-rollback', text: 'rollback to savepoint paidonce_hook' }

const BEGIN = /^(begin|start\s+transaction)\b/i
const SAVEPOINT_OF_ITS_OWN = /^savepoint\b/i
/** Settings hold for the whole transaction, so the next hook would run under them. */
const SETTING = /^set\b|\bset_config\s*\(/i
const COMMIT = /^(commit|end)\b/i
const ROLLBACK = /^(rollback|abort)\b(?!\s+(work\s+|transaction\s+)?to\b)/i
// A setting of the session outlives the transaction on a connection that others use after us; one of ours would be
// changed under our feet.
const FORBIDDEN =
  /^(prepare\s+transaction|(commit|rollback)\s+prepared|set\s+(?!local\s|constraints\s)|reset\b|discard\b|deallocate\b)/i
const SESSION_SETTING = /\bset_config\s*\([^)]*,\s*false\s*\)/i

/** The text without the white space, semicolons and comments that may stand before a statement. Comments nest. */
function statementOf(text: string): string {
  const rest = text.replace(/^(?:[\s;]|--[^\n]*(?:\n|$))+/, '')
  if (!rest.startsWith('/*')) return rest
  let depth = 0
  for (const { 0: mark, index } of rest.matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1
    if (depth === 0) return statementOf(rest.slice(index + 2))
  }
  return ''
}

class Facade implements HookTransaction {
  readonly #tx: Transaction
  readonly #alone: boolean
  readonly #running = new Set<Promise<unknown>>()
  #revoked = false
  #depth = 0
  failure: unknown

  constructor(tx: Transaction, alone: boolean) {
    this.#tx = tx
    this.#alone = alone
  }

  query = async <Row = Record<string, unknown>>(
    query: string | { readonly text: string; readonly values?: readonly unknown[] },
    values?: readonly unknown[],
  ): Promise<{ rows: Row[]; rowCount: number }> => {
    if (this.#revoked) {
      throw new Fault(
        'hook_revoked',
        'This hook is over; its transaction takes no more queries. Await every query inside the hook.',
      )
    }
    const text = typeof query === 'string' ? query : query.text
    const given = (typeof query === 'string' ? values : (query.values ?? values)) ?? []
    const sent = this.#send<Row>(text, given)
    this.#running.add(sent)
    try {
      return await sent
    } finally {
      this.#running.delete(sent)
    }
  }

  async #send<Row>(text: string, given: readonly unknown[]): Promise<{ rows: Row[]; rowCount: number }> {
    if (FORBIDDEN.test(statementOf(text)) || SESSION_SETTING.test(text)) {
      throw this.#refuse(
        'A hook may not change the session that it runs in. Use SET LOCAL for a setting of this transaction.',
      )
    }
    try {
      const rows = await this.#tx.query<Row>(
        { name: '', text: this.#asSavepoint(text) },
        given.map(toParameter),
      )
      return { rows, rowCount: rows.length }
    } catch (error) {
      if (this.#depth === 0) this.failure ??= error
      throw error
    }
  }

  /** An ORM that opens, commits or rolls back "its" transaction does so with a savepoint of ours. */
  #asSavepoint(text: string): string {
    const statement = statementOf(text)
    const own = [BEGIN, SAVEPOINT_OF_ITS_OWN, SETTING]
    if (!this.#alone && own.some((pattern) => pattern.test(statement))) throw new NeedsToBeAlone()
    if (BEGIN.test(statement)) return `savepoint paidonce_inner_${++this.#depth}`
    if (this.#depth > 0 && COMMIT.test(statement)) return `release savepoint paidonce_inner_${this.#depth--}`
    if (this.#depth > 0 && ROLLBACK.test(statement)) {
      return `rollback to savepoint paidonce_inner_${this.#depth--}`
    }
    if (COMMIT.test(statement) || ROLLBACK.test(statement)) {
      throw this.#refuse('A hook may not end the transaction that it runs in.')
    }
    return text
  }

  /** A hook that swallows this has not done what it meant to do. */
  #refuse(message: string): Fault {
    const fault = new Fault('hook_failed', message)
    this.failure ??= fault
    return fault
  }

  revoke(): void {
    this.#revoked = true
  }

  /** Refuses further queries and waits for those that the hook started without awaiting them. */
  async close(): Promise<void> {
    this.#revoked = true
    await Promise.allSettled([...this.#running])
  }
}

function toParameter(value: unknown): Parameter {
  if (value === undefined || value === null) return null
  if (
    typeof value === 'object' &&
    !(value instanceof Date) &&
    !(value instanceof Uint8Array) &&
    !Array.isArray(value)
  ) {
    return JSON.stringify(value)
  }
  return value as Parameter
}
