import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parametersDigest, providerKey } from './operation-key.ts'
import { nextForUnknown, type RepeatRules, type UnknownOperation } from './operation-repeat.ts'

const HOUR_MS = 3_600_000
const KEYED: RepeatRules = { where: 'header', window_hours: 24, repeat: 'same_answer' }
const KEYLESS: RepeatRules = { where: 'none', window_hours: null, repeat: 'runs_again' }
const AT: UnknownOperation = {
  kind: 'refund',
  now_ms: HOUR_MS,
  first_sent_ms: 0,
  last_sent_ms: 0,
  read_lag_ms: null,
  lists: false,
}

describe('an operation of which nobody knows whether it happened', () => {
  it.each<[string, RepeatRules, Partial<UnknownOperation>, object]>([
    ['inside the window', KEYED, {}, { step: 'repeat' }],
    ['near its end', KEYED, { now_ms: 22 * HOUR_MS }, { step: 'hold' }],
    ['a window that nobody names', { ...KEYED, window_hours: null }, {}, { step: 'repeat' }],
    ['and a day later', { ...KEYED, window_hours: null }, { now_ms: 24 * HOUR_MS }, { step: 'hold' }],
    ['a key that does not help', { ...KEYED, repeat: 'runs_again' }, {}, { step: 'hold' }],
    ['a key of which nothing is known', { ...KEYED, repeat: 'unknown' }, {}, { step: 'hold' }],
    ['neither key nor look-up', KEYLESS, {}, { step: 'hold' }],
    ['an adapter that looks first', { ...KEYLESS, looks_first: true }, {}, { step: 'repeat' }],
    ['the same at once', { ...KEYLESS, looks_first: true }, { now_ms: 1_000 }, { step: 'wait' }],
    [
      'the same within twice the lag',
      { ...KEYLESS, looks_first: true },
      { read_lag_ms: HOUR_MS },
      { step: 'wait', until_ms: 2 * HOUR_MS },
    ],
    [
      'a list that names our key',
      { ...KEYED, echoes_key: true },
      { now_ms: 30 * HOUR_MS, lists: true },
      { step: 'list', absent: 'new_attempt' },
    ],
    [
      'the same for a charge',
      { ...KEYED, echoes_key: true },
      { now_ms: 30 * HOUR_MS, lists: true, kind: 'charge' },
      { step: 'list', absent: 'hold' },
    ],
    ['a list that does not', KEYED, { now_ms: 30 * HOUR_MS, lists: true }, { step: 'hold' }],
  ])('%s', (_, rules, more, expected) => {
    expect(nextForUnknown(rules, { ...AT, ...more })).toMatchObject(expected)
  })

  it('P37 is never repeated by its key after the window, whatever the clocks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 0, max: 10_000 }), (hours, after) => {
        const end_ms = hours * HOUR_MS
        const step = nextForUnknown({ ...KEYED, window_hours: hours }, { ...AT, now_ms: end_ms + after })
        expect(step.step).toBe('hold')
      }),
    )
  })
})

describe('keys', () => {
  it('P36 are the same for ever, another for every attempt, tenant and operation, and short enough for all providers', () => {
    expect(providerKey('t', 'refund/A-1', 1)).toBe(providerKey('t', 'refund/A-1', 1))
    const different = [
      providerKey('t', 'refund/A-1', 1),
      providerKey('t', 'refund/A-1', 2),
      providerKey('u', 'refund/A-1', 1),
      providerKey('t', 'refund/A-2', 1),
      providerKey('t', 'r'.repeat(200), 99),
    ]
    expect(new Set(different).size).toBe(different.length)
    for (const key of different) expect(key).toMatch(/^po_[0-9a-f]{32}_[0-9]{1,2}$/)
  })

  it('P36 tell apart operations that differ in any parameter', () => {
    const base = {
      kind: 'refund',
      namespace: 'stripe',
      account: 'default',
      payment: 'pi_1',
      order: '',
      amount_minor: 100n,
      currency: 'USD',
    } as const
    const others = [
      { ...base, amount_minor: 101n },
      { ...base, currency: 'EUR' },
      { ...base, payment: 'pi_2' },
      { ...base, account: 'other' },
      { ...base, kind: 'charge' as const },
      { ...base, reason: 'x' },
    ]
    const digests = [base, ...others].map((one) => parametersDigest(one).toString('hex'))
    expect(new Set(digests).size).toBe(digests.length)
    expect(parametersDigest({ ...base, reason: undefined })).toEqual(parametersDigest(base))
  })
})
