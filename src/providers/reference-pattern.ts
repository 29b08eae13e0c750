/** Whether an order reference looks like one of ours; without a pattern every reference does. */
export function matchesPattern(pattern: RegExp | undefined, reference: string): boolean {
  // A new object each time: a global or sticky pattern remembers where it stopped.
  return (
    pattern === undefined || new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(reference)
  )
}
