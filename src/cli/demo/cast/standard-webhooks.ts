import { fieldIn, textIn } from '../../../providers/field.ts'
import {
  exponentOf,
  type MessageTranslate,
  parseMinor,
  paymentMilestone,
  standardWebhooks,
  Unreadable,
} from '../../../providers/standard-webhooks/index.ts'
import { samples } from '../../../providers/standard-webhooks/sample.ts'
import { signedPlayer } from './signed.ts'

/** What a merchant writes for a sender of their own: from its invoice to a payment. */
const translate: MessageTranslate = (payload, context) => {
  const id = textIn(payload, 'data', 'id')
  const currency = textIn(payload, 'data', 'currency')
  const amount = parseMinor(fieldIn(payload, 'data', 'amount_total'))
  if (!id || !currency || exponentOf(currency) === null || !amount.ok) throw new Unreadable('an odd invoice')
  const { amount_minor } = amount
  const order = textIn(payload, 'data', 'order_id')
  return {
    facts: [paymentMilestone(context.payment(id), { milestone: 'succeeded', amount_minor, currency, order })],
  }
}

export const player = signedPlayer({
  name: 'standard-webhooks',
  maker: samples,
  currencies: ['USD', 'EUR'],
  secret: (seed) => `whsec_${Buffer.from(seed).toString('base64')}`,
  provider: (secrets) => standardWebhooks({ name: 'invoicer', secrets, translate }),
})
