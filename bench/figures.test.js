import { describe, expect, it } from 'vitest'
import { median, ratios, summary } from './figures.js'

const at = (...rates) =>
  rates.map((per_s, i) => ({
    per_s,
    p50_ms: 10 + i,
    p99_ms: 20 + i,
    max_ms: 30,
    receiver_cpu_ms_per_event: 0.5,
    database_cpu_ms_per_event: null,
    peak_mb: 100 + i,
  }))

describe('figures', () => {
  it('takes the middle, or the mean of the two middle ones', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([1, 10, 2, 3])).toBe(2.5)
  })

  it('divides pair by pair before it takes the median, so a slow spell of the machine cancels out', () => {
    const samples = {
      plain: at(1_000, 500, 1_000),
      paidonce: at(4_000, 2_000, 3_000),
      nothing: at(20_000, 10_000, 20_000),
    }
    expect(ratios('64', samples)).toEqual({ ratio_to_plain_64: 4, ratio_to_nothing_64: 0.2 })
  })

  it('names the ratio with a hook, and leaves out what was not measured', () => {
    expect(ratios('hook_64', { plain: at(1, 1, 1), paidonce: at(3, 3, 3) })).toEqual({
      ratio_with_hook_64: 3,
    })
    expect(ratios('mixed_64', { plain: at(1, 1, 1), paidonce: at(3, 3, 3) })).toEqual({
      ratio_to_plain_mixed_64: 3,
    })
    expect(ratios('64', { plain: at(1, 1, 1) })).toEqual({})
  })

  it('keeps an unknown unknown and takes the highest peak', () => {
    const { per_s, p50_ms, database_cpu_ms_per_event, peak_mb } = summary(at(300, 100, 200))
    expect({ per_s, p50_ms, database_cpu_ms_per_event, peak_mb }).toEqual({
      per_s: 200,
      p50_ms: 11,
      database_cpu_ms_per_event: null,
      peak_mb: 102,
    })
  })
})
