import { paymentMilestone } from '../src/facts/payment.ts'
import { refusal } from '../src/facts/refusal.ts'
import type { Delivery, Provider } from '../src/providers/contract.ts'
import type { Expected, LookupAnswer } from '../src/providers/lookup.ts'

/** What the toy's API answers, and what it was asked. */
export interface ToyApi {
  answer: (id: string, expected: Expected | null) => LookupAnswer | Promise<LookupAnswer>
  readonly asked: { readonly id: string; readonly expected: Expected | null }[]
}

export interface Toy {
  readonly provider: Provider
  readonly api: ToyApi
  /** A delivery that the toy believes: it names a payment and asks for a look-up. */
  readonly hint: (event: string, payment: string, order?: string) => Delivery
}

export const toyPayment = (id: string) =>
  ({ kind: 'payment', namespace: 'toy', account: 'default', id }) as const

/** An answer by which a payment succeeded. */
export function toyPaid(payment: string, amount_minor: bigint, order?: string): LookupAnswer {
  const content = { milestone: 'succeeded', amount_minor, currency: 'USD', order } as const
  return { outcome: 'found', facts: [paymentMilestone(toyPayment(payment), content)] }
}

/** A provider whose messages prove nothing about money: they only say which payment to ask about. */
export function toy(more: Partial<Provider> = {}): Toy {
  const api: ToyApi = { answer: () => ({ outcome: 'not_found' }), asked: [] }
  const provider: Provider = {
    provider: 'toy',
    namespace: 'toy',
    account: 'default',
    secrets_mode: null,
    secrets: [],
    adapter_version: 1,
    capabilities: {
      event_id: 'body',
      proof: 'none',
      signed_time: false,
      test_marker: 'secret',
      redelivers: false,
      redelivers_for_hours: null,
      refund_ids: false,
      lookup_by_payment: true,
      lookup_by_reference: false,
      lists_by_window: false,
      read_lag_ms: null,
      late_failure_days: {},
      idempotency: { refund: null, charge: null },
    },
    stored_headers: [],
    methods: ['POST'],
    expects: null,
    verify: ({ headers }) =>
      headers['x-toy'] === 'good'
        ? { refused: false, secret_label: 'toy', signed_at_ms: null, signed_id: null }
        : refusal('signature_wrong', 'not a toy'),
    translate: ({ body }) => {
      const { event, payment, order } = JSON.parse(Buffer.from(body).toString()) as Record<string, string>
      const content = { milestone: 'created', order } as const
      return {
        event_id: event ?? null,
        type: 'toy',
        occurred_at: null,
        mode: null,
        account: null,
        api_version: null,
        outcome: 'facts',
        reason: '',
        facts: [paymentMilestone(toyPayment(payment!), content)],
        lookups: [{ object: 'payment', id: payment! }],
      }
    },
    lookup: {
      fetch: async ({ id }, expected) => {
        api.asked.push({ id, expected })
        return api.answer(id, expected)
      },
    },
    ...more,
  }
  const hint = (event: string, payment: string, order?: string) => ({
    method: 'POST',
    headers: { 'x-toy': 'good' },
    body: Buffer.from(JSON.stringify({ event, payment, order })),
  })
  return { provider, api, hint }
}
