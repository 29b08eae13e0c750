/** What a sample message is about. */
export interface SampleWish {
  /** One of the maker's `events`; left out for its first. */
  readonly event?: string | undefined
  readonly order?: string | undefined
  /** What this message is about: a refund's own amount for refund messages. Minor units of `currency`. */
  readonly amount_minor: bigint
  readonly currency: string
  /** The provider's payment id, in its form (see `payment`). */
  readonly payment: string
  /** What was paid in all, where a message about a part names both. Default: `amount_minor`. */
  readonly paid_minor?: bigint | undefined
  readonly live: boolean
  /** Unix seconds at which it happened. */
  readonly at_s: number
}

/** A message ready to be sent. */
export interface SampleMessage {
  readonly method: 'POST' | 'GET'
  /** Query of the address, without the question mark; empty for none. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Makes correctly signed messages as the provider sends them: for `paidonce send`, the demo and the drill. */
export interface SampleMaker {
  /** The events that it can make, by the provider's own names, the commonest first. */
  readonly events: readonly string[]
  /** The event that tells each step of a payment's life, where the provider has one. */
  readonly steps: {
    readonly paid: readonly string[]
    readonly failed?: readonly string[]
    readonly refunded?: readonly string[]
    readonly dispute_opened?: readonly string[]
    readonly dispute_lost?: readonly string[]
    readonly dispute_won?: readonly string[]
  }
  /** Default currency; the only one where the provider has one. */
  readonly currency: string
  /** True where nothing is signed with a shared secret, so that none has to be given. */
  readonly unsigned?: boolean | undefined
  /** Gives an id in the form of the provider's payment ids from any letters and digits; the same for the same seed. */
  payment(seed: string): string
  /** @param secret of the endpoint, as configured; ignored where nothing is signed with one */
  make(wish: SampleWish, secret: string, now_ms: number): SampleMessage
}
