import { Fault } from '../facts/fault.ts'
import type { OrderItem } from '../facts/order.ts'
import type { PolicyOptions } from '../rules/policy.ts'
import type { Transaction } from '../store/database.ts'
import type { Ids } from '../store/queries/take-ids.ts'

/** Items by the provider's price id. */
export type Catalogue = ReadonlyMap<string, readonly OrderItem[]>

/** The one transaction that a batch is settled in. */
export interface Work {
  readonly tx: Transaction
  readonly bucket: number
  /** The database's clock when the transaction began. */
  readonly as_of: Date
  readonly epoch: bigint
  readonly ids: Ids
  /** One-shot topics that somebody is told of; the others leave no row. Level effects always do. */
  readonly topics: ReadonlySet<string>
  /** The installation's own policy, for orders that are registered now. */
  readonly policy: PolicyOptions
  /** What each price of a provider gives, for orders that follow their price. */
  readonly catalogue: Catalogue
  /** Also read facts that lost their last witness to a replay; asked for when the store shows that there are some. */
  readonly with_dormant: boolean
}

/**
 * Facts were told that the store holds without a witness: settle again and read those too. Not a failure; it happens
 * only to what a replay has taken back before.
 */
export class DormantFacts extends Error {}

/** A row that we hold the lock of is not as it must be. The batch is repeated whole; if it stays so, it is a fault. */
export function invariant(holds: boolean, what: string): void {
  if (!holds) {
    throw new Fault(
      'isolation_wrong',
      `Settling found that ${what}. Something writes to PaidOnce tables without its locks.`,
      {
        retriable: true,
      },
    )
  }
}
