// From samples to the figures that are printed.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The medians of one receiver's samples. */
export function summary(samples) {
  const of = (field) => {
    const values = samples.map((sample) => sample[field])
    return values.includes(null) ? null : round(median(values))
  }
  return {
    per_s: Math.round(median(samples.map(({ per_s }) => per_s))),
    p50_ms: of('p50_ms'),
    p99_ms: of('p99_ms'),
    max_ms: of('max_ms'),
    receiver_cpu_ms_per_event: of('receiver_cpu_ms_per_event'),
    database_cpu_ms_per_event: of('database_cpu_ms_per_event'),
    peak_mb: Math.round(Math.max(...samples.map(({ peak_mb }) => peak_mb))),
    per_s_of_each_sample: samples.map(({ per_s }) => Math.round(per_s)),
  }
}

/** How many times faster `ours` was than `theirs`: the median over the pairs that ran one after the other. */
export function ratio(ours, theirs) {
  return round(median(ours.map(({ per_s }, i) => per_s / theirs[i].per_s)))
}

/** The ratios of one measurement (`64`, `mixed_64`, `hook_64`) under the names they are printed with, as far as its receivers allow. */
export function ratios(name, { paidonce, plain, nothing }) {
  const found = {}
  if (paidonce && plain)
    found[name.startsWith('hook') ? `ratio_with_${name}` : `ratio_to_plain_${name}`] = ratio(paidonce, plain)
  if (paidonce && nothing) found[`ratio_to_nothing_${name}`] = ratio(paidonce, nothing)
  return found
}

/** Three significant places below a hundred, whole numbers above. */
export function round(value) {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}
