import { cleanText } from '../field.ts'
import type { Hint } from '../hint.ts'
import type { ReturnFields } from '../return-fields.ts'
import { Unreadable } from '../unreadable.ts'
import { PIDX } from './payment.ts'

/**
 * Which payment a return is about. Everything in it can be typed by the buyer: order, amount and status are not used.
 * @throws Unreadable when it names no payment; some failures bring nothing but a message
 */
export function readReturn(fields: ReturnFields): Hint {
  const pidx = fields.get('pidx')
  if (pidx === undefined || !PIDX.test(pidx)) throw new Unreadable('pidx is missing or odd')
  const status = cleanText(fields.get('status'))
  return {
    type: status !== undefined && /^[A-Za-z ]{1,40}$/.test(status) ? status.toLowerCase() : 'return',
    lookup: { object: 'payment', id: pidx },
    canceled: status !== undefined && /^(?:user )?cancell?ed$/i.test(status),
  }
}
