import type { Translation } from '../../facts/event.ts'
import { newAsk } from '../ask.ts'
import type { LookupContext } from '../lookup.ts'
import type { PaypalIpnOptions } from './index.ts'
import { paypalIpn } from './index.ts'
import { SAMPLE_RECEIVER, samples } from './sample.ts'

/** For the tests of this folder: an endpoint, messages with fields changed, and what is made of them. */

/** A composed message with a windows-1252 e-acute, and digests of what has to be posted back, computed elsewhere. */
export const VECTOR =
  'mc_gross=25.00&invoice=ORD-1001&protection_eligibility=Eligible&payer_id=TESTPAYER0001&payment_date=04%3A12%3A33+Mar+03%2C+2026+PST&payment_status=Completed&charset=windows-1252&first_name=Test&mc_fee=1.22&notify_version=3.9&custom=user_8841%7Cplan_pass&payer_status=verified&business=seller%40example.com&quantity=1&verify_sign=AInventedVerifySign.CannotBeCheckedLocally-0123456789abcd&payer_email=buyer%40example.com&txn_id=7AB12345CD678901E&payment_type=echeck&last_name=Buyer&receiver_email=seller%40example.com&receiver_id=TESTSELLER001&txn_type=web_accept&item_name=Caf%E9+pass&mc_currency=EUR&item_number=PASS-1&residence_country=DE&test_ipn=1&transaction_subject=&ipn_track_id=91c07be25ad13'
export const VECTOR_SHA256 = '719a862b6b91201556e623f6eff17fdaa4cd533d9a6c58017ebbbecfa39624a7'
export const POST_BACK_SHA256 = '7170e329e4d7f99d1a70927bcd043301e2bd6d2514297e7eb0ce1f1749095d76'

export const NOW_MS = 1_760_000_500_000
export const headers = { 'content-type': 'application/x-www-form-urlencoded' }
const accepted = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const

export const context: LookupContext = { now_ms: NOW_MS, limit_ms: 2000, ask: newAsk(fetch, () => NOW_MS) }

export function endpoint(options: Partial<PaypalIpnOptions> = {}) {
  return paypalIpn({ environment: 'sandbox', receiverId: SAMPLE_RECEIVER, ...options })
}

export function read(body: string | Uint8Array, options: Partial<PaypalIpnOptions> = {}): Translation {
  return endpoint(options).translate({ method: 'POST', headers, body: Buffer.from(body) }, accepted)
}

/** A sample with some fields replaced, or taken out by null. */
export function message(event: string, fields: Readonly<Record<string, string | null>> = {}): string {
  const wish = {
    amount_minor: 2500n,
    currency: 'EUR',
    payment: 'TXN1',
    order: 'ORD-1',
    live: false,
    at_s: 1_760_000_000,
  }
  const form = new URLSearchParams(samples.make({ ...wish, event }, '', 0).body)
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) form.delete(name)
    else form.set(name, value)
  }
  return form.toString()
}

export function contentOf(body: string, options: Partial<PaypalIpnOptions> = {}) {
  const { facts, reason } = read(body, options)
  return facts[0]?.content ?? reason
}
