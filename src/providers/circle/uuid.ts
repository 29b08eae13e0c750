import { createHash } from 'node:crypto'
import { Fault } from '../../facts/fault.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const ZERO = '00000000-0000-0000-0000-000000000000'

/** The uuid in lower case, or null: only what is exactly one may become part of an address. */
export function uuidOf(text: string | null | undefined): string | null {
  return typeof text === 'string' && UUID.test(text) ? text.toLowerCase() : null
}

/** Circle's test message names things by this one, which names nothing. */
export function isZeroUuid(text: string | undefined): boolean {
  return text === ZERO
}

/** A uuid of version 4 in form, always the same for the same text: Circle takes nothing else as an idempotency key. */
export function uuidFrom(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}

/** The ids of an option, in lower case. @throws Fault `config_invalid` when one is not a uuid */
export function readUuids(provider: string, option: string, ids: readonly string[]): ReadonlySet<string> {
  return new Set(
    ids.map((id) => {
      const uuid = uuidOf(id.trim())
      if (uuid !== null) return uuid
      throw new Fault('config_invalid', `${provider}: ${option} names ${id}, which is not a uuid.`)
    }),
  )
}
