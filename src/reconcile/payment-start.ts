import type { Fact } from '../facts/fact.ts'
import { Fault } from '../facts/fault.ts'
import type { Ask } from '../providers/ask.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { cleanText } from '../providers/field.ts'
import type { Redirect } from '../providers/start.ts'
import { settleItem } from '../settle/item.ts'
import type { Settler } from '../settle/settler.ts'
import { wantedLookup } from '../store/queries/request-lookups.ts'

/** A payment that is begun at a provider which sends the buyer away and back. */
export interface PaymentStart {
  /** Name of the endpoint whose provider is used. */
  readonly endpoint: string
  /** Our order reference. */
  readonly order: string
  /** What the buyer is asked for, minor units of `currency`. From our own order, never from the browser. */
  readonly amount_minor: bigint
  readonly currency: string
  /** What the buyer sees as the name of the purchase. */
  readonly title?: string | undefined
  /** Name of this attempt, for ever unique at the provider account: letters, digits, dashes. Default: the order's own and some chance. */
  readonly attempt?: string | undefined
  /** Where the provider sends the buyer afterwards. Default: `public_url` of the options and `/return/<endpoint>`. */
  readonly return_url?: string | undefined
}

export interface StartedPayment {
  /** The provider's payment id. */
  readonly payment: string
  /** Where to send the buyer's browser now. */
  readonly redirect: Redirect
  /** Lets the buyer see how the order stands (`GET /confirm/<reference>`); only where `confirm_secret` is set. */
  readonly confirm_token?: string
}

/** Everything that starting needs from the outside. */
export interface StartContext {
  readonly settler: Settler
  readonly ask: Ask
  readonly now_ms: () => number
  /** Some letters and digits that nobody can guess. */
  readonly chance: () => string
  readonly public_url: string | undefined
}

/** A buyer who does not come back is asked about first after so long. */
const FIRST_LOOK_MS = 10 * 60_000
const LIMIT_MS = 15_000

/**
 * Begins a payment. What it is for and how much it is stands in the database before the buyer is told where to go, so that
 * whatever comes back is compared with that; a look-up is due by itself if nothing comes back.
 * @throws Fault `not_found` (no such endpoint), `lookup_unsupported` (its provider starts no payments), `order_invalid`,
 *   `provider_unavailable` (nothing was begun, or nobody knows; start a new attempt), `config_invalid`
 */
export async function startPayment(
  context: StartContext,
  endpoint: Endpoint | undefined,
  request: PaymentStart,
): Promise<StartedPayment> {
  if (!endpoint)
    throw new Fault(
      'not_found',
      `No endpoint ${request.endpoint} is configured. Add it to \`endpoints\`, or correct the name.`,
    )
  const { provider } = endpoint
  if (!provider.start) {
    throw new Fault(
      'lookup_unsupported',
      `${provider.provider} starts no payments here. Start it with the provider's own SDK and put the order's reference into its metadata.`,
    )
  }
  const answer = await provider.start(checked(context, endpoint, request), {
    now_ms: context.now_ms(),
    ask: context.ask,
    limit_ms: LIMIT_MS,
  })
  if (answer.outcome === 'unavailable') {
    throw new Fault(
      'provider_unavailable',
      `${provider.provider} did not begin the payment (${answer.reason}). Start another attempt.`,
      { retriable: true },
    )
  }
  if (answer.outcome === 'declined') {
    throw new Fault('order_invalid', `${provider.provider} refuses to begin the payment: ${answer.reason}`)
  }
  await remember(context, endpoint, answer.payment, answer.facts)
  return { payment: answer.payment, redirect: answer.redirect }
}

function checked(context: StartContext, endpoint: Endpoint, request: PaymentStart) {
  const { order, amount_minor, currency, title } = request
  if (cleanText(order) === undefined)
    throw new Fault('order_invalid', 'The order reference is blank or unusable.')
  if (typeof amount_minor !== 'bigint' || amount_minor <= 0n) {
    throw new Fault('order_invalid', 'amount_minor is a bigint above 0, in minor units of the currency.')
  }
  const attempt =
    request.attempt ?? `${order.replaceAll(/[^A-Za-z0-9-]+/g, '-').slice(0, 40)}-${context.chance()}`
  if (!/^[A-Za-z0-9-]{1,80}$/.test(attempt)) {
    throw new Fault('order_invalid', 'attempt has 1 to 80 letters, digits and dashes.')
  }
  return { order, amount_minor, currency, attempt, title, return_url: returnUrl(context, endpoint, request) }
}

function returnUrl({ public_url }: StartContext, { name }: Endpoint, { return_url }: PaymentStart): string {
  if (return_url !== undefined) return return_url
  if (public_url === undefined) {
    throw new Fault(
      'config_invalid',
      'Nobody knows where the buyer comes back to. Set `public_url` in the options, or give `return_url`.',
    )
  }
  return `${public_url.replace(/\/+$/, '')}/return/${name}`
}

async function remember(
  { settler, now_ms }: StartContext,
  endpoint: Endpoint,
  payment: string,
  facts: readonly Fact[],
): Promise<void> {
  const due_at = new Date(now_ms() + FIRST_LOOK_MS)
  const lookups = [wantedLookup(endpoint, { object: 'payment', id: payment }, 'start', due_at)]
  const source = { kind: 'merchant', id: 0n, version: 1 } as const
  await settler.settleOne(endpoint.bucket, settleItem({ tenant: endpoint.tenant, source, facts, lookups }))
}
