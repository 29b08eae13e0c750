import type { LeasedEffect } from '../store/queries/lease-effects.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

/** An effect that this worker has leased. */
export interface HeldEffect {
  readonly bucket: number
  readonly row: LeasedEffect
  readonly effect: OutgoingEffect
  readonly token: string
  /** Stops the attempt under way. */
  readonly abort: AbortController
  /** The lease's end, Unix milliseconds. */
  lease_end_ms: number
  /** Its lease was ended or is being ended by `bury`; there is nothing left to renew. */
  ended: boolean
  /** Someone else may have it by now; what this worker still does with it counts for nothing. */
  lost: boolean
}
