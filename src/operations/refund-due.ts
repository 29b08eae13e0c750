import { hash } from 'node:crypto'
import { Fault } from '../facts/fault.ts'
import { KEY_MAX, type Operations } from './operations.ts'

const FINAL: ReadonlySet<string> = new Set([
  'operation_invalid',
  'operation_conflict',
  'operation_refused',
  'not_found',
])

/** An effect that says that money is to be given back, as much of it as this needs. */
export interface RefundDue {
  readonly tenant: string
  readonly topic: string
  readonly subject: { readonly kind: string; readonly key: string }
  readonly cause: string
  readonly payload: Readonly<Record<string, unknown>>
}

/**
 * Makes an operation of a refund that became due by a policy. Its key is what makes it due, so that an effect which is
 * delivered twice asks once. Gives why nothing can be asked for, or null when it was.
 * @throws Fault `lookup_unsupported` where no endpoint can ask for it; others that trying again may cure
 */
export async function planDueRefund(operations: Operations, effect: RefundDue): Promise<string | null> {
  const { payload, subject, cause, tenant } = effect
  const { namespace, account, payment, amount_minor, currency } = payload
  if (typeof payment !== 'string') return 'the effect names no payment'
  const key = `${effect.topic}/${subject.key}/${cause}`
  try {
    await operations.refund({
      key: key.length <= KEY_MAX ? key : `${effect.topic}/${hash('sha256', key, 'hex')}`,
      payment:
        typeof namespace === 'string' && typeof account === 'string'
          ? `${namespace}/${account}/${payment}`
          : payment,
      tenant,
      amount_minor: amount_minor === undefined ? undefined : BigInt(String(amount_minor)),
      currency: typeof currency === 'string' ? currency : undefined,
      reason: 'requested_by_customer',
      asked_by: `policy: ${cause}`.slice(0, 200),
    })
    return null
  } catch (error) {
    if (error instanceof Fault && FINAL.has(error.code)) return error.message
    throw error
  }
}
