import type { Translation } from '../../facts/event.ts'
import type { Delivery, Verified } from '../contract.ts'
import { singleHeader } from '../header.ts'
import type { MessageSetup } from '../message.ts'
import { translateMessage } from '../message.ts'
import type { VerifySetup } from './verify.ts'

/** The id is the signed header's; type and time are the payload's recommended fields; the rest is the user's to say. */
export function translateStandardWebhook(
  setup: MessageSetup & Pick<VerifySetup, 'families'>,
  delivery: Delivery,
  verified: Verified,
): Translation {
  return translateMessage(setup, delivery.body, verified.signed_id ?? storedId(setup, delivery), {})
}

/** A replay has the stored headers of a delivery that was verified when it came. */
function storedId({ families }: Pick<VerifySetup, 'families'>, delivery: Delivery): string | null {
  for (const family of families) {
    const id = singleHeader(delivery, `${family}-id`)
    if (id) return id
  }
  return null
}
