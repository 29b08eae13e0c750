import { createHmac } from 'node:crypto'

/** `name=value` in the order of the names, joined with commas, nothing escaped. */
export function signedText(names: readonly string[], values: Readonly<Record<string, string>>): string {
  return names.map((name) => `${name}=${values[name]}`).join(',')
}

/** @param key the merchant secret, as UTF-8 */
export function digestOf(signed: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(signed).digest()
}
