import { Fault } from '../../facts/fault.ts'
import type { PaidOnce } from '../../paidonce.ts'
import type { StartedPayment } from '../../reconcile/payment-start.ts'
import type { Sale, Street } from './cast/player.ts'

const ATTEMPTS = 5

/** The way of buyers between the shop and one provider. */
export function newStreet(
  paidonce: PaidOnce,
  endpoint: string,
  return_url: string,
  comeBack: Street['comeBack'],
): Street {
  return {
    comeBack,
    startPayment: (sale) => begin(paidonce, endpoint, return_url, sale),
  }
}

/** A provider that does not answer may have begun the payment, so that each try is another attempt. */
async function begin(
  paidonce: PaidOnce,
  endpoint: string,
  return_url: string,
  { reference, amount_minor, currency }: Sale,
): Promise<StartedPayment> {
  const about = { endpoint, order: reference, amount_minor, currency, return_url }
  for (let number = 1; ; number += 1) {
    try {
      return await paidonce.startPayment({ ...about, attempt: `${reference}-${number}` })
    } catch (error) {
      if (number === ATTEMPTS || !(error instanceof Fault) || !error.retriable) throw error
    }
  }
}
