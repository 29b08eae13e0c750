import { Fault } from '../facts/fault.ts'

/** After how long something that nobody tells becomes an exception. */
export interface WatchOptions {
  /**
   * Hours without an authentic message at an endpoint whose account has payments. One number for all endpoints, or one
   * per name; `null` for an endpoint that may be silent. Default 72: a little more than your longest quiet time is right.
   */
  readonly silent_after_hours?: number | null | Readonly<Record<string, number | null>> | undefined
  /** Minutes in which an endpoint refuses every signed delivery, at least five of them. Default 30. */
  readonly refusing_after_minutes?: number | undefined
  /** Minutes that something may wait to be settled, a provider to be asked, a granted right to be told. Default 60. */
  readonly stuck_after_minutes?: number | undefined
  /** Days before a dispute's deadline at which a person is reminded of it. Default 3. */
  readonly dispute_days?: number | undefined
  /** How often to look, milliseconds; by one process at a time, however many run. Default 300,000. */
  readonly every_ms?: number | undefined
}

/** The options with their defaults, in milliseconds. */
export interface WatchLimits {
  /** Null for an endpoint that may be silent for ever. */
  readonly silentAfter_ms: (endpoint: string) => number | null
  readonly refusing_after_ms: number
  readonly stuck_after_ms: number
  readonly dispute_ms: number
  readonly every_ms: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const SILENT_AFTER_HOURS = 72

/** Throws Fault `config_invalid` for a number that is none, or not above 0. */
export function watchLimits(options: WatchOptions = {}): WatchLimits {
  const { silent_after_hours: silent = SILENT_AFTER_HOURS } = options
  const each = silent !== null && typeof silent === 'object' ? Object.values(silent) : [silent]
  for (const hours of each) if (hours !== null) above0('silent_after_hours', hours)
  return {
    silentAfter_ms: (endpoint) => {
      const hours =
        silent !== null && typeof silent === 'object'
          ? Object.hasOwn(silent, endpoint)
            ? silent[endpoint]!
            : SILENT_AFTER_HOURS
          : silent
      return hours === null ? null : hours * HOUR_MS
    },
    refusing_after_ms: above0('refusing_after_minutes', options.refusing_after_minutes ?? 30) * MINUTE_MS,
    stuck_after_ms: above0('stuck_after_minutes', options.stuck_after_minutes ?? 60) * MINUTE_MS,
    dispute_ms: above0('dispute_days', options.dispute_days ?? 3) * 24 * HOUR_MS,
    every_ms: above0('every_ms', options.every_ms ?? 300_000),
  }
}

function above0(name: string, value: number): number {
  if (Number.isFinite(value) && value > 0) return value
  throw new Fault('config_invalid', `\`watches.${name}\` must be a number above 0.`)
}
