import { idIn, listIn } from '../field.ts'
import type { ChargeRequest, LookupContext, OperationAnswer, RefundRequest } from '../lookup.ts'
import { stripeFromMinor } from './amount.ts'
import type { ApiSetup, ClientSource } from './client.ts'
import { request } from './client.ts'
import { operationFailure } from './failure.ts'
import { intentFacts, recordOf, refundFacts } from './object-facts.ts'
import { OPERATION, operationKey } from './operation-key.ts'

const LONGEST_KEY = 255

/**
 * Asks for a refund of a payment intent or, for payments of long ago, of a charge. The operation's key is sent as the
 * idempotency key and kept with the refund.
 */
export async function refundAtStripe(
  setup: ApiSetup,
  source: ClientSource,
  { key, payment, attempt, amount_minor, currency, reason }: RefundRequest,
  context: LookupContext,
): Promise<OperationAnswer> {
  const amount = amountAtStripe(amount_minor, currency)
  const impossible = amount === null ? 'amount_not_expressible' : keyProblem(key)
  if (impossible !== null) return declined(impossible)
  const params = {
    ...(payment.startsWith('pi_') ? { payment_intent: payment } : { charge: attempt ?? payment }),
    amount,
    metadata: { [OPERATION]: key },
    ...(reason !== undefined && REASONS.has(reason) ? { reason } : {}),
  }
  try {
    return await request(source, context.limit_ms, async (client, options) =>
      accepted(setup, await client.refunds.create(params, { ...options, idempotencyKey: key }), refundFacts),
    )
  } catch (error) {
    const answer = operationFailure(error)
    return answer.outcome === 'declined' ? doneBefore(setup, source, payment, key, context, answer) : answer
  }
}

const REASONS: ReadonlySet<string> = new Set(['duplicate', 'fraudulent', 'requested_by_customer'])

/**
 * A repeat after Stripe has forgotten the key is refused when nothing is left to give back. That no is about the
 * repeat: what the first request did is found by the key that its refund carries.
 */
async function doneBefore(
  setup: ApiSetup,
  source: ClientSource,
  payment: string,
  key: string,
  context: LookupContext,
  answer: Exclude<OperationAnswer, { outcome: 'accepted' }>,
): Promise<OperationAnswer> {
  const filter = payment.startsWith('pi_') ? { payment_intent: payment } : { charge: payment }
  try {
    const list = await request(source, context.limit_ms, (client, options) =>
      client.refunds.list({ ...filter, limit: 100 }, options),
    )
    const own = listIn(list, 'data').find((refund) => operationKey(refund) === key)
    return own === undefined ? answer : accepted(setup, own, refundFacts)
  } catch (error) {
    const failure = operationFailure(error)
    // There is no such payment, so there is no refund of it either.
    return failure.outcome === 'declined' ? answer : failure
  }
}

/**
 * Charges a stored means of payment while the payer is away.
 * Without `method`, Stripe takes the customer's default one where it has one.
 */
export async function chargeAtStripe(
  setup: ApiSetup,
  source: ClientSource,
  { key, amount_minor, currency, order, customer, method }: ChargeRequest,
  context: LookupContext,
): Promise<OperationAnswer> {
  const amount = amountAtStripe(amount_minor, currency)
  const impossible = amount === null ? 'amount_not_expressible' : keyProblem(key)
  if (impossible !== null) return declined(impossible)
  const params = {
    amount,
    currency: currency.toLowerCase(),
    customer,
    ...(method === undefined ? {} : { payment_method: method }),
    confirm: true,
    off_session: true,
    metadata: { [setup.orderReference.metadataKey ?? 'order_id']: order, [OPERATION]: key },
    expand: ['latest_charge'],
  }
  try {
    return await request(source, context.limit_ms, async (client, options) =>
      accepted(
        setup,
        await client.paymentIntents.create(params, { ...options, idempotencyKey: key }),
        intentFacts,
      ),
    )
  } catch (error) {
    return operationFailure(error)
  }
}

/** Stripe took it on: also when its answer cannot be read, since it has an id. */
function accepted(setup: ApiSetup, answer: unknown, read: typeof refundFacts): OperationAnswer {
  const provider_id = idIn({ answer }, 'answer')
  if (provider_id === undefined) return { outcome: 'unknown', reason: 'Stripe answered without an id' }
  try {
    return { outcome: 'accepted', provider_id, facts: read(setup, recordOf(answer)) }
  } catch {
    return { outcome: 'accepted', provider_id, facts: [] }
  }
}

function amountAtStripe(amount_minor: bigint, currency: string): number | null {
  try {
    return stripeFromMinor(amount_minor, currency)
  } catch {
    return null
  }
}

function keyProblem(key: string): string | null {
  return key === '' || key.length > LONGEST_KEY ? 'key_unusable' : null
}

function declined(code: string): OperationAnswer {
  return { outcome: 'declined', code, reason: `Nothing was sent to Stripe (${code}).` }
}
