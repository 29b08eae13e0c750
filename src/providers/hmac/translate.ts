import type { Translation } from '../../facts/event.ts'
import type { Delivery, Verified } from '../contract.ts'
import { singleHeader } from '../header.ts'
import type { MessageSetup } from '../message.ts'
import { translateMessage } from '../message.ts'
import type { HmacScheme } from './scheme.ts'

export interface TranslateSetup extends MessageSetup {
  readonly scheme: HmacScheme
  readonly storedHeaders: readonly string[]
}

export function translateHmac(setup: TranslateSetup, delivery: Delivery, verified: Verified): Translation {
  const headers = Object.fromEntries(
    setup.storedHeaders.map((name) => [name, singleHeader(delivery, name) ?? undefined] as const),
  )
  const storedId = setup.scheme.id && singleHeader(delivery, setup.scheme.id.header.toLowerCase())
  return translateMessage(setup, delivery.body, verified.signed_id ?? storedId ?? null, headers)
}
