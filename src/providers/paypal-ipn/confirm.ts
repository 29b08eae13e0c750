import { Fault } from '../../facts/fault.ts'
import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import type { LookupContext } from '../lookup.ts'

const PREFIX = Buffer.from('cmd=_notify-validate&')
const ANSWER_MAX = 64 * 1024
const CONFIRMED: Verified = {
  refused: false,
  secret_label: 'confirmed',
  signed_at_ms: null,
  signed_id: null,
}

/**
 * Posts the message back, byte for byte behind the command. The host is the configured system's and never what the
 * message says of itself: the sandbox confirms sandbox messages, and anybody can have one.
 * @throws Fault `provider_unavailable` for any answer but the two words
 */
export async function confirmIpn(
  postBack: URL,
  delivery: Delivery,
  context: LookupContext,
): Promise<Verified | Refusal> {
  const { status, body } = await context.ask(postBack.href, {
    method: 'POST',
    hosts: [postBack.host],
    limit_ms: context.limit_ms,
    answer_max: ANSWER_MAX,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'PaidOnce-IPN/1' },
    body: Buffer.concat([PREFIX, delivery.body]),
  })
  const word = status === 200 ? body.toString('latin1').trim() : ''
  if (word === 'VERIFIED') return CONFIRMED
  if (word === 'INVALID') return refusal('signature_wrong', 'PayPal says that it did not send this message')
  throw new Fault(
    'provider_unavailable',
    `paypal-ipn: ${postBack.host} answered ${status} with neither VERIFIED nor INVALID. It is asked again later.`,
    { retriable: true },
  )
}
