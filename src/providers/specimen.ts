import type { Delivery, Provider } from './contract.ts'
import type { LabelledSecret } from './secret.ts'

/** What each provider folder's `vectors.ts` gives to the shared contract suite. */
export interface Specimen {
  /** The provider with two valid secrets. */
  readonly provider: Provider
  readonly secrets: readonly [LabelledSecret, LabelledSecret]
  /** A second provider that knows only the second secret. */
  readonly providerOfSecond: Provider
  /** Signs as the sender would. */
  readonly sign: (body: Uint8Array, secret: string, now_ms: number) => Delivery
  /** Every header that verification reads, the signature's first. */
  readonly headers: readonly [string, ...string[]]
  /** The accepted distance between the signed time and ours; null where no time is signed. */
  readonly tolerance_s: number | null
  readonly vectors: readonly Vector[]
}

/** A message with a signature that was computed elsewhere, so that it proves more than that we agree with ourselves. */
export interface Vector {
  readonly name: string
  readonly provider: Provider
  readonly delivery: Delivery
  readonly now_ms: number
  readonly secret_label: string
}
