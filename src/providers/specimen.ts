import type { LookupRequest } from '../facts/lookup.ts'
import type { Delivery, Provider } from './contract.ts'
import type { LabelledSecret } from './secret.ts'

/** What each provider folder's `vectors.ts` gives to the shared contract suite. */
export interface Specimen {
  /** The provider, with two valid secrets where it has secrets, and credentials for look-ups where it takes some. */
  readonly provider: Provider
  /** Secrets that it accepts; two, or none where nothing is signed with a shared secret. */
  readonly secrets: readonly LabelledSecret[]
  /** A second provider that does not accept what the first secret (or key) signs; null where nothing is signed. */
  readonly providerOfSecond: Provider | null
  /**
   * Makes the delivery of a body as the sender would; `secret` is empty where there is none. It takes any bytes, also
   * such as are no message of the provider's.
   */
  readonly sign: (body: Uint8Array, secret: string, now_ms: number) => Delivery
  /** Every header that verification reads, the signature's first; empty where it reads none. */
  readonly headers: readonly string[]
  /** The accepted distance between the signed time and ours; null where no time is signed. */
  readonly tolerance_s: number | null
  readonly vectors: readonly Vector[]
  /**
   * What becomes of a signature header that comes several times: it is read as one list, or refused because it can hold
   * one signature only. Default `list`.
   */
  readonly repeated?: 'list' | 'refused' | undefined
  /** The provider that takes what `samples` of `sample.ts` makes, where it is another than `provider`. */
  readonly ofSamples?: Provider | undefined
  /** How a body is written. Default `json`. */
  readonly syntax?: 'json' | 'form' | undefined
  /** Every event of the provider's documented table that can concern money, and what comes of it. */
  readonly events: readonly EventRow[]
}

/** One row of the provider's table of events. */
export interface EventRow {
  /** Name of the event (and status) as the provider's documentation has it. */
  readonly event: string
  /** A body of it, as sent. */
  readonly body: Uint8Array
  /** The facts that it yields, each `subject id / fact key`, in order; empty when it yields none. */
  readonly facts: readonly string[]
  readonly outcome: 'facts' | 'ignored' | 'not_ours' | 'unreadable'
  /** What it asks to be looked up. Default none. */
  readonly lookups?: readonly LookupRequest[] | undefined
  /**
   * How it says which payment it is about: by its id (`named`), by an object that stands in for it until a link fact of
   * another row or a look-up tells (`linked`), not at all (`none`: it moves no money), or it is set aside until
   * something else names it (`parked`).
   */
  readonly payment: 'named' | 'linked' | 'parked' | 'none'
}

/** A message with a signature that was computed elsewhere, so that it proves more than that we agree with ourselves. */
export interface Vector {
  readonly name: string
  readonly provider: Provider
  readonly delivery: Delivery
  readonly now_ms: number
  readonly secret_label: string
}
