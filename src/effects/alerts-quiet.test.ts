import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quietFor } from './alerts-quiet.ts'

const MINUTE_MS = 60_000
const timeOfDay = fc
  .integer({ min: 0, max: 1_439 })
  .map((minutes) => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`)
const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
)

function two(number: number): string {
  return String(number).padStart(2, '0')
}

function localTime(at_ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at_ms)
}

describe('quiet hours', () => {
  it('last from one time to the other, over midnight where they must', () => {
    const night = quietFor({ from: '22:00', to: '07:00', zone: 'Europe/Berlin' })
    const minutes = (at: string) => night(Date.parse(at)) / MINUTE_MS
    expect(minutes('2026-01-10T20:59:00Z')).toBe(0)
    expect(minutes('2026-01-10T21:00:00Z')).toBe(540)
    expect(minutes('2026-01-11T05:59:30Z')).toBe(1)
    expect(minutes('2026-01-11T06:00:00Z')).toBe(0)
    const lunch = quietFor({ from: '12:00', to: '13:30', zone: 'Asia/Kathmandu' })
    expect(lunch(Date.parse('2026-01-10T06:15:00Z')) / MINUTE_MS).toBe(90)
    expect(lunch(Date.parse('2026-01-10T06:14:00Z'))).toBe(0)
  })

  it('end at the time of the wall clock when summer time begins or ends on the way', () => {
    const night = quietFor({ from: '22:00', to: '07:00', zone: 'Europe/Berlin' })
    const end = (at: string) => new Date(Date.parse(at) + night(Date.parse(at))).toISOString()
    expect(end('2026-03-28T22:00:00Z')).toBe('2026-03-29T05:00:00.000Z')
    expect(end('2026-10-24T21:00:00Z')).toBe('2026-10-25T06:00:00.000Z')
  })

  it('are over when one has waited for so long, or very soon after', () => {
    fc.assert(
      fc.property(
        timeOfDay,
        timeOfDay,
        zone,
        fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }),
        (from, to, timeZone, at_ms) => {
          fc.pre(from !== to)
          const quiet = quietFor({ from, to, zone: timeZone })
          const first_ms = quiet(at_ms)
          expect(first_ms).toBeLessThanOrEqual(25 * 60 * MINUTE_MS)
          if (first_ms === 0) return
          // A time of day that summer time skips, or shows twice, costs a second look.
          let end_ms = at_ms + first_ms
          for (let looks = 0; looks < 3 && quiet(end_ms) > 0; looks += 1) end_ms += quiet(end_ms)
          expect(quiet(end_ms), localTime(end_ms, timeZone)).toBe(0)
          expect(end_ms - at_ms).toBeLessThanOrEqual(27 * 60 * MINUTE_MS)
        },
      ),
    )
  })
})
