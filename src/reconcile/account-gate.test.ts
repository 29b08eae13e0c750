import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LookupAnswer } from '../providers/lookup.ts'
import { AccountGate, AccountGates } from './account-gate.ts'

const GOOD: LookupAnswer = { outcome: 'not_found' }
const AWAY: LookupAnswer = { outcome: 'unavailable', reason: 'away' }

describe('the gate of an account', () => {
  it('lets so many pass at once, and then so many a second', () => {
    const gate = new AccountGate({ per_second: 10, burst: 3 })
    expect([1, 2, 3].map(() => gate.admit(0))).toEqual([null, null, null])
    expect(gate.admit(0)).toBe(100)
    expect(gate.admit(100)).toBe(null)
    expect(gate.admit(150)).toBe(200)
  })

  it('lets nothing pass before the time that the provider named', () => {
    const gate = new AccountGate()
    gate.heard({ ...AWAY, retry_after_ms: 30_000 }, 1_000)
    expect(gate.admit(30_999)).toBe(31_000)
    expect(gate.admit(31_000)).toBe(null)
  })

  it('leaves an account alone after failures in a row, tries one request per pause, and is open again at the first answer', () => {
    const gate = new AccountGate({ failures: 3, pause_ms: 1_000 })
    for (let n = 0; n < 3; n += 1) gate.heard(AWAY, 0)
    expect(gate.open).toBe(true)
    expect(gate.admit(999)).toBe(1_000)
    expect(gate.admit(1_000)).toBe(null)
    expect(gate.admit(1_001)).not.toBe(null)
    gate.heard(AWAY, 1_500)
    expect(gate.admit(3_000)).toBe(3_500)
    expect(gate.admit(3_500)).toBe(null)
    gate.heard(GOOD, 3_600)
    expect([gate.open, gate.admit(3_601)]).toEqual([false, null])
  })

  it('takes the failures of requests that were under way together for one, however many they are', () => {
    const gate = new AccountGate({ failures: 3, pause_ms: 1_000 })
    for (let n = 0; n < 11; n += 1) expect(gate.admit(0)).toBe(null)
    for (let n = 0; n < 11; n += 1) gate.heard(AWAY, 10)
    expect(gate.admit(1_009)).toBe(1_010)
    expect(gate.admit(1_010)).toBe(null)
  })

  it('never exceeds its rate, however it is asked', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }), (pauses) => {
        const gate = new AccountGate({ per_second: 5, burst: 4 })
        let now_ms = 0
        let passed = 0
        for (const pause of pauses) {
          now_ms += pause
          if (gate.admit(now_ms) === null) passed += 1
        }
        expect(passed).toBeLessThanOrEqual(4 + Math.floor(now_ms / 200))
      }),
    )
  })

  it('is one per account, whichever endpoint asks', () => {
    const gates = new AccountGates()
    const stripe = { namespace: 'stripe', account: 'default' }
    expect(gates.of(stripe)).toBe(gates.of({ ...stripe }))
    expect(gates.of(stripe)).not.toBe(gates.of({ ...stripe, account: 'other' }))
  })
})
