/** One JSON document. Amounts and ids, which may exceed what JSON readers keep, are decimal text; bytes are hex. */
export function asJson(value: unknown): string {
  return `${JSON.stringify(value, plain, 2)}\n`
}

function plain(this: Record<string, unknown>, name: string, value: unknown): unknown {
  // A Buffer has made itself an object of numbers by the time it gets here, so its owner is asked.
  const own = this[name]
  if (own instanceof Uint8Array) return Buffer.from(own).toString('hex')
  return typeof value === 'bigint' ? String(value) : value
}
