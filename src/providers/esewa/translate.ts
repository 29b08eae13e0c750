import { cleanText } from '../field.ts'
import type { Hint } from '../hint.ts'
import type { ReturnFields } from '../return-fields.ts'
import { namedByAddress } from '../return-fields.ts'
import { Unreadable } from '../unreadable.ts'
import type { EsewaSetup } from './payment.ts'
import { readReturnData } from './return-data.ts'

/** Letters, digits and dashes, as eSewa demands of what we send. */
const ATTEMPT = /^[A-Za-z0-9-]{1,100}$/

/** Which payment a success redirect is about; status and amount in it may be old and are not used. */
export function readSuccess(setup: EsewaSetup, fields: ReturnFields): Hint {
  const data = fields.get('data')
  if (data === undefined) throw new Unreadable('data is missing')
  const { transaction_uuid, product_code, status } = readReturnData(data)
  if (product_code !== setup.productCode) throw new Unreadable('product_code is not the configured one')
  return {
    type: cleanText(status) ?? 'success',
    lookup: { object: 'payment', id: attemptId(transaction_uuid) },
    canceled: status === 'CANCELED',
  }
}

/** Which payment the failure address names that `start` handed out; eSewa adds nothing to it. */
export function readFailure(fields: ReturnFields): Hint {
  const id = attemptId(namedByAddress(fields))
  return { type: 'failure', lookup: { object: 'payment', id }, canceled: true }
}

function attemptId(text: string | undefined): string {
  if (text === undefined || !ATTEMPT.test(text)) throw new Unreadable('transaction_uuid is missing or odd')
  return text
}
