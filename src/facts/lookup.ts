/**
 * Something to ask the provider about, because a message told of it without proving it, or told only part. Stored
 * together with the event that asks for it, and asked by a worker afterwards, outside any transaction.
 */
export interface LookupRequest {
  /** What kind of object it is, in the provider's own word: `capture`, `transaction`, `dispute`. */
  readonly object: string
  /** The provider's id of it. */
  readonly id: string
}
