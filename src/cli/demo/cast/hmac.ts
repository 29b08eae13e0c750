import { fieldIn, textIn } from '../../../providers/field.ts'
import {
  exponentOf,
  type HmacScheme,
  hmac,
  hmacSamples,
  type MessageTranslate,
  parseDecimal,
  paymentMilestone,
  Unreadable,
} from '../../../providers/hmac/index.ts'
import { signedPlayer } from './signed.ts'

/** A gateway of the country, as its documentation describes it. */
const SCHEME: HmacScheme = {
  header: 'X-Gateway-Signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: 'sha256=',
  signed: '{time}.{body}',
  time: { header: 'X-Gateway-Time', unit: 's', tolerance_s: 300 },
}

/** What a merchant writes for it: from its message to a payment. */
const translate: MessageTranslate = (payload, context) => {
  const id = textIn(payload, 'payment', 'id')
  const currency = textIn(payload, 'payment', 'currency') ?? ''
  const exponent = exponentOf(currency)
  const amount = parseDecimal(fieldIn(payload, 'payment', 'amount'), exponent ?? 0)
  if (!id || exponent === null || !amount.ok) throw new Unreadable('an odd payment')
  const { amount_minor } = amount
  const order = textIn(payload, 'payment', 'order')
  return {
    event_id: textIn(payload, 'id'),
    facts: [paymentMilestone(context.payment(id), { milestone: 'succeeded', amount_minor, currency, order })],
  }
}

export const player = signedPlayer({
  name: 'hmac',
  maker: hmacSamples(SCHEME),
  currencies: ['NPR', 'INR'],
  secret: (seed) => seed,
  provider: (secrets) => hmac({ name: 'gateway', secrets, translate, ...SCHEME }),
})
