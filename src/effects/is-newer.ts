/** Where a level effect stands among those of its item. JSON carries the epoch as text; all forms are read. */
export interface Position {
  readonly epoch: bigint | number | string
  readonly revision: bigint | number | string
}

/**
 * Whether a level effect says something newer than what its receiver has applied: a higher epoch, or a higher revision
 * within the same. Receivers keep (epoch, revision) beside the item and ignore what is not newer, in one statement or
 * under a lock: deliveries may come twice, and a paused worker may come late.
 * @param known what was applied last; null when nothing was
 */
export function isNewer(known: Position | null, told: Position): boolean {
  if (known === null) return true
  const by_epoch = compare(told.epoch, known.epoch)
  return by_epoch > 0 || (by_epoch === 0 && compare(told.revision, known.revision) > 0)
}

function compare(a: bigint | number | string, b: bigint | number | string): number {
  const [left, right] = [BigInt(a), BigInt(b)]
  return left < right ? -1 : left > right ? 1 : 0
}
