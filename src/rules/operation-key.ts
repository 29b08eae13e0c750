import { hash } from 'node:crypto'

/** What an operation asks for; the same key with anything else in here is refused. */
export interface OperationParameters {
  readonly kind: 'refund' | 'charge'
  readonly namespace: string
  readonly account: string
  /** The payment that is given back; empty for a charge. */
  readonly payment: string
  /** The order that is charged; empty for a refund. */
  readonly order: string
  readonly amount_minor: bigint
  readonly currency: string
  readonly reason?: string | undefined
  readonly customer?: string | undefined
  readonly method?: string | undefined
}

/** Stands for the parameters. The endpoint is not among them: one that was renamed asks for the same. */
export function parametersDigest(parameters: OperationParameters): Buffer {
  const named = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)])
    .sort(([a], [b]) => (a! < b! ? -1 : 1))
  return hash('sha256', JSON.stringify(named), 'buffer')
}

/**
 * The key that the provider sees: made from our own and the attempt, so that it is the same after a crash, a restart or a
 * restored backup, and never that of another operation. At most 38 characters, which the shortest limit allows
 * (`PayPal-Request-Id`).
 */
export function providerKey(tenant: string, operation_key: string, attempt: number): string {
  const own = hash('sha256', JSON.stringify([tenant, operation_key]), 'hex').slice(0, 32)
  return `po_${own}_${attempt}`
}
