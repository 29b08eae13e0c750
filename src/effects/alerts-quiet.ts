import { Fault } from '../facts/fault.ts'

/** Hours of the day in which nobody is told of what can wait. What is urgent never waits. */
export interface QuietHours {
  /** `HH:MM`, from then on. */
  readonly from: string
  /** `HH:MM`, until then; on the next day where it is earlier than `from`. */
  readonly to: string
  /** IANA time zone, such as `Europe/Berlin`. */
  readonly zone: string
}

/** How long it is still quiet, milliseconds; 0 when it is not. */
export type QuietFor = (now_ms: number) => number

const DAY_MINUTES = 1_440
const MINUTE_MS = 60_000

/** Reads quiet hours. Throws Fault `config_invalid` for what is no time of day or no zone. */
export function quietFor({ from, to, zone }: QuietHours): QuietFor {
  const begin = minutesOf(from)
  const end = minutesOf(to)
  if (begin === end) throw invalid('`alerts.quiet` begins and ends at the same time. Leave it out for none.')
  const clock = clockOf(zone)
  return (now_ms) => {
    const now = minutesAt(clock, now_ms)
    const quiet = begin < end ? now >= begin && now < end : now >= begin || now < end
    if (!quiet) return 0
    const first_guess_ms = now_ms + wrapped(end - now) * MINUTE_MS - (now_ms % MINUTE_MS)
    // A change to or from summer time on the way moves the end by what the clock is then off.
    const off = wrapped(minutesAt(clock, first_guess_ms) - end + DAY_MINUTES / 2) - DAY_MINUTES / 2
    return Math.max(MINUTE_MS, first_guess_ms - off * MINUTE_MS - now_ms)
  }
}

function wrapped(minutes: number): number {
  return ((minutes % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES
}

function minutesOf(text: string): number {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (hours === undefined) {
    throw invalid(`\`alerts.quiet\` needs times like 22:00, not ${JSON.stringify(text)}.`)
  }
  return Number(hours) * 60 + Number(minutes)
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
  } catch {
    throw invalid(
      `\`alerts.quiet.zone\` is no time zone: ${JSON.stringify(timeZone)}. Use one like Europe/Berlin.`,
    )
  }
}

function minutesAt(clock: Intl.DateTimeFormat, at_ms: number): number {
  return minutesOf(clock.format(at_ms))
}

function invalid(message: string): Fault {
  return new Fault('config_invalid', message)
}
