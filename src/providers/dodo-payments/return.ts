import type { Delivery, ReturnHint } from '../contract.ts'

/**
 * `?payment_id=pay_...&status=...`: which payment to ask about. Whatever the status says, only the look-up tells; buyers
 * can type it.
 */
export function readDodoReturn({ query }: Delivery): ReturnHint | null {
  const fields = new URLSearchParams(query ?? '')
  const id = fields.get('payment_id')
  if (id === null || !/^[A-Za-z0-9_-]{1,100}$/.test(id)) return null
  return { lookup: { object: 'payment', id }, canceled: fields.get('status') === 'cancelled' }
}
