import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Absence,
  ALARMING,
  type ComparisonBasis,
  compareItem,
  isBreak,
  judgeAbsence,
  type OurSide,
  type ReconciledKind,
  type TheirSide,
} from './reconcile.ts'

const NOW_MS = 1_760_000_000_000
const HOUR_MS = 3_600_000

const basis: ComparisonBasis = { now_ms: NOW_MS, lag_ms: 60_000, tolerance_minor: 0n, settled: false }
const theirs: TheirSide = {
  status: 'succeeded',
  amount_minor: 2_000n,
  currency: 'USD',
  fee_minor: null,
  original: null,
  payment_known: true,
  foreign: false,
}
const ours: OurSide = {
  status: 'succeeded',
  amount_minor: 2_000n,
  currency: 'USD',
  changed_at_ms: NOW_MS - HOUR_MS,
}

type Row = readonly [
  string,
  ReconciledKind,
  Partial<TheirSide>,
  Partial<OurSide> | null,
  Partial<ComparisonBasis>,
  string,
  boolean,
]

const ROWS: readonly Row[] = [
  ['alike', 'payments', {}, {}, {}, 'matched', false],
  ['only the provider has it', 'payments', {}, null, {}, 'missing_internal', true],
  ['and it could not be settled', 'payments', {}, null, { settled: true }, 'missing_internal', false],
  ["a stranger's charge", 'payments', { foreign: true, status: null }, null, {}, 'not_ours', false],
  [
    'unreadable',
    'payments',
    { foreign: true, status: null, amount_minor: null },
    null,
    {},
    'unverifiable',
    false,
  ],
  ['a refund of a known payment', 'refunds', {}, null, {}, 'missing_internal', true],
  [
    'a refund of nobody knows what',
    'refunds',
    { payment_known: false },
    null,
    {},
    'unexplained_refund',
    true,
  ],
  ['recorded, and still so', 'refunds', { payment_known: false }, {}, {}, 'unexplained_refund', false],
  ['other amount', 'payments', { amount_minor: 2_001n }, {}, {}, 'amount_mismatch', false],
  [
    'within tolerance',
    'payments',
    { amount_minor: 1_998n },
    {},
    { tolerance_minor: 2n },
    'matched_within_tolerance',
    false,
  ],
  [
    'just beyond it',
    'payments',
    { amount_minor: 2_003n },
    {},
    { tolerance_minor: 2n },
    'amount_mismatch',
    false,
  ],
  [
    'the fee accounts for it',
    'payments',
    { amount_minor: 1_942n, fee_minor: 58n },
    {},
    {},
    'fee_or_fx_difference',
    false,
  ],
  [
    'the fee does not',
    'payments',
    { amount_minor: 1_900n, fee_minor: 58n },
    {},
    {},
    'amount_mismatch',
    false,
  ],
  ['other currency', 'payments', { currency: 'EUR' }, {}, {}, 'currency_mismatch', false],
  [
    'exchanged',
    'payments',
    { currency: 'EUR', amount_minor: 1_840n, original: { amount_minor: 2_000n, currency: 'USD' } },
    {},
    {},
    'fee_or_fx_difference',
    false,
  ],
  [
    'exchanged from something else',
    'payments',
    { currency: 'EUR', amount_minor: 1_840n, original: { amount_minor: 1_999n, currency: 'USD' } },
    {},
    {},
    'currency_mismatch',
    false,
  ],
  [
    'the provider is ahead',
    'payments',
    {},
    { status: 'pending', amount_minor: null },
    {},
    'status_mismatch',
    true,
  ],
  ['it went on to fail', 'refunds', { status: 'failed' }, {}, {}, 'status_mismatch', true],
  ['we are ahead', 'payments', { status: 'pending' }, {}, {}, 'status_mismatch', false],
  [
    'just now',
    'payments',
    { status: 'pending' },
    { changed_at_ms: NOW_MS - 5_000 },
    {},
    'timing_difference',
    false,
  ],
  ['the bank took it back', 'payments', {}, { status: 'reversed' }, {}, 'matched', false],
  [
    'nothing has moved',
    'payments',
    { status: 'authorized', amount_minor: null },
    { status: 'authorized' },
    {},
    'matched',
    false,
  ],
  [
    'verdicts differ',
    'disputes',
    { status: 'lost' },
    { status: 'needs_response' },
    {},
    'status_mismatch',
    true,
  ],
  ['one meaning', 'disputes', { status: 'accepted' }, { status: 'lost' }, {}, 'matched', false],
  ['a file without states', 'payments', { status: null }, {}, {}, 'matched', false],
  [
    'a file without a readable amount',
    'payments',
    { status: null, amount_minor: null },
    {},
    {},
    'unverifiable',
    false,
  ],
]

describe('comparing one object', () => {
  it.each(ROWS)('%s', (_name, kind, their, our, more, found, settles) => {
    const side = our === null ? null : { ...ours, ...our }
    const judged = compareItem(kind, { ...theirs, ...their }, side, { ...basis, ...more })
    expect([judged.class, judged.settles]).toEqual([found, settles])
  })

  it('P41 finds no difference between equal sides, and never asks twice to settle', () => {
    const status = fc.constantFrom(
      'created',
      'pending',
      'authorized',
      'succeeded',
      'failed',
      'canceled',
      'reversed',
    )
    const amount_minor = fc.bigInt(0n, 10n ** 20n)
    fc.assert(
      fc.property(status, status, amount_minor, amount_minor, (a, b, mine, yours) => {
        const their = { ...theirs, status: a, amount_minor: yours }
        const same = compareItem('payments', their, { ...ours, status: a, amount_minor: yours }, basis)
        expect(same.class).toBe('matched')
        const our = { ...ours, status: b, amount_minor: mine }
        expect(compareItem('payments', their, our, { ...basis, settled: true }).settles).toBe(false)
        const judged = compareItem('payments', their, our, basis)
        expect(judged.expires_at_ms === null).toBe(judged.class !== 'timing_difference')
      }),
    )
  })
})

const absence: Absence = {
  covered: true,
  moved_at_ms: NOW_MS - HOUR_MS,
  listed_at_ms: NOW_MS,
  lag_ms: 60_000,
  listed_by_moved: true,
  asked: null,
  twin_listed: false,
}

describe('what was not listed', () => {
  it.each([
    ['is missing where the list is complete', {}, 'missing_external'],
    ['is a second copy where its twin was listed', { twin_listed: true }, 'duplicate_internal'],
    ['may yet appear', { moved_at_ms: NOW_MS - 5_000 }, 'timing_difference'],
    ['says nothing outside what was listed', { covered: false }, 'unverifiable'],
    ['says nothing where nobody knows its time', { moved_at_ms: null }, 'unverifiable'],
    [
      'is missing all the same once the provider says so',
      { moved_at_ms: null, asked: 'not_found' },
      'missing_external',
    ],
    ['may stand in another window', { listed_by_moved: false }, 'unverifiable'],
    ['is there when the provider is asked', { asked: 'found', twin_listed: true }, 'matched'],
  ] as const)('%s', (_name, more, found) => {
    expect(judgeAbsence({ ...absence, ...more }).class).toBe(found)
  })

  it('P41 means nothing without coverage, whatever else is known', () => {
    const any = fc.record({
      moved_at_ms: fc.option(fc.integer({ min: NOW_MS - HOUR_MS, max: NOW_MS }), { nil: null }),
      listed_by_moved: fc.boolean(),
      twin_listed: fc.boolean(),
      asked: fc.constantFrom('not_found' as const, null),
    })
    fc.assert(
      fc.property(any, (more) => {
        const judged = judgeAbsence({ ...absence, ...more, covered: false }).class
        expect(isBreak(judged) && ALARMING.has(judged)).toBe(false)
      }),
    )
  })
})
