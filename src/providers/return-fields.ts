import type { Delivery } from './contract.ts'

export type ReturnFields = ReadonlyMap<string, string>

/** The name under which an address that we hand out names its payment, where the provider itself adds nothing. */
const PAYMENT = 'payment'

/**
 * What a browser brought back, from the query and from a posted form. A name that stands there with two values is left
 * out: nobody knows which one is meant.
 */
export function returnFields(delivery: Delivery): ReturnFields {
  // A provider that appends its own question mark to an address that has one already is understood too.
  const query = new URLSearchParams((delivery.query ?? '').replaceAll('?', '&'))
  const form = new URLSearchParams(Buffer.from(delivery.body).toString('utf8'))
  const fields = new Map<string, string>()
  const doubtful = new Set<string>()
  for (const [name, value] of [...query, ...form]) {
    if (fields.has(name) && fields.get(name) !== value) doubtful.add(name)
    fields.set(name, value)
  }
  for (const name of doubtful) fields.delete(name)
  return fields
}

/** The return address for an end of which the provider tells nothing: it names the payment itself. */
export function addressNaming(return_url: string, payment: string): string {
  const url = new URL(return_url)
  url.searchParams.set(PAYMENT, payment)
  return url.href
}

/** The payment that such an address names. */
export function namedByAddress(fields: ReturnFields): string | undefined {
  return fields.get(PAYMENT)
}

/** True for an address to which a browser can be sent back. */
export function isReturnUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}
