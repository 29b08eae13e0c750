import { paymentMilestone } from '../../facts/payment.ts'
import { addressNaming, isReturnUrl } from '../return-fields.ts'
import { NPR } from '../rupees.ts'
import type { Start, StartAnswer, StartRequest } from '../start.ts'
import type { EsewaSetup } from './payment.ts'
import { amountText, paymentSubject } from './payment.ts'
import { digestOf, signedText } from './signed-text.ts'

const FORM_PATH = '/api/epay/main/v2/form'
const FORM_NAMES = ['total_amount', 'transaction_uuid', 'product_code']

/** The form that the buyer's browser posts to eSewa. Nothing is sent from here. */
export function startEsewa(setup: EsewaSetup): Start {
  return async (request) => {
    const reason = obstacle(request)
    if (reason !== null) return { outcome: 'declined', reason }
    return started(setup, request)
  }
}

function obstacle({ currency, amount_minor, attempt, return_url }: StartRequest): string | null {
  if (currency !== NPR) return `eSewa takes ${NPR} only, not ${currency}`
  if (amount_minor <= 0n) return 'the amount must be above zero'
  if (!/^[A-Za-z0-9-]{1,100}$/.test(attempt)) return 'the attempt must be letters, digits and dashes'
  if (!isReturnUrl(return_url)) return 'return_url must be an http or https address'
  return null
}

function started(setup: EsewaSetup, request: StartRequest): StartAnswer {
  const { attempt, amount_minor, order, return_url } = request
  const total_amount = amountText(amount_minor)
  const values = { total_amount, transaction_uuid: attempt, product_code: setup.productCode }
  const signature = digestOf(signedText(FORM_NAMES, values), setup.secrets[0]!.key).toString('base64')
  return {
    outcome: 'started',
    payment: attempt,
    facts: [
      paymentMilestone(paymentSubject(setup, attempt), {
        milestone: 'created',
        amount_minor,
        currency: NPR,
        order,
      }),
    ],
    redirect: {
      method: 'POST',
      url: `${setup.formBaseUrl}${FORM_PATH}`,
      fields: {
        amount: total_amount,
        tax_amount: '0',
        product_service_charge: '0',
        product_delivery_charge: '0',
        ...values,
        success_url: return_url,
        failure_url: addressNaming(return_url, attempt),
        signed_field_names: FORM_NAMES.join(','),
        signature,
      },
    },
  }
}
