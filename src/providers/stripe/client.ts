import { fieldIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { StripeSetup } from './stripe-event.ts'

/** What an answer of Stripe's can hold: it is read like a webhook's body, by readers of unknown shapes. */
type Params = Readonly<Record<string, unknown>>

export interface RequestOptions {
  readonly timeout: number
  readonly maxNetworkRetries: 0
  readonly idempotencyKey?: string
}

interface Resource {
  retrieve(id: string, params: Params, options: RequestOptions): Promise<unknown>
  list(params: Params, options: RequestOptions): Promise<unknown>
  create(params: Params, options: RequestOptions): Promise<unknown>
  search(params: Params, options: RequestOptions): Promise<unknown>
}

/** The part of the official SDK that is used, so that our own types need no SDK to be installed. */
export interface StripeClient {
  readonly paymentIntents: Pick<Resource, 'retrieve' | 'create' | 'search'>
  readonly charges: Pick<Resource, 'retrieve' | 'list'>
  readonly refunds: Pick<Resource, 'retrieve' | 'list' | 'create'>
  readonly disputes: Pick<Resource, 'retrieve' | 'list'>
  readonly invoices: Pick<Resource, 'retrieve'>
  readonly subscriptions: Pick<Resource, 'retrieve'>
  readonly checkout: { readonly sessions: Pick<Resource, 'retrieve' | 'list'> }
}

export interface ApiSetup extends StripeSetup {
  readonly apiKey: string
  /** Address of the API without a final slash. */
  readonly apiUrl: string
  /** For Stripe Connect: whose objects are asked for. */
  readonly connectedAccount: string | undefined
  /** Loads the official SDK. */
  readonly loadSdk: () => Promise<typeof import('stripe')>
}

/** Makes the client on first use; `stripe` is an optional peer. */
export type ClientSource = () => Promise<StripeClient>

/** The official SDK is not installed. */
export class SdkMissing extends Error {}

export function newClientSource(setup: ApiSetup): ClientSource {
  let client: StripeClient | undefined
  return async () => {
    client ??= await newClient(setup)
    return client
  }
}

async function newClient(setup: ApiSetup): Promise<StripeClient> {
  const { default: Stripe } = await setup.loadSdk().catch((cause: unknown) => {
    throw new SdkMissing('Look-ups at Stripe need its official library: npm install stripe', { cause })
  })
  const { protocol, hostname, port } = new URL(setup.apiUrl)
  const client = new Stripe(setup.apiKey, {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    maxNetworkRetries: 0,
    telemetry: false,
    ...(setup.connectedAccount === undefined ? {} : { stripeAccount: setup.connectedAccount }),
  })
  return checked(client as unknown as StripeClient)
}

function checked(client: StripeClient): StripeClient {
  return {
    paymentIntents: checkedResource(client.paymentIntents),
    charges: checkedResource(client.charges),
    refunds: checkedResource(client.refunds),
    disputes: checkedResource(client.disputes),
    invoices: checkedResource(client.invoices),
    subscriptions: checkedResource(client.subscriptions),
    checkout: { sessions: checkedResource(client.checkout.sessions) },
  }
}

function checkedResource(of: object): Resource {
  const resource = of as Resource
  return {
    retrieve: async (id, params, options) =>
      about(id, successful(await resource.retrieve(id, params, options))),
    list: async (params, options) => successful(await resource.list(params, options)),
    create: async (params, options) => successful(await resource.create(params, options)),
    search: async (params, options) => successful(await resource.search(params, options)),
  }
}

/** An answer mixed up on its way would leave the object that was asked about untold. @throws Unreadable */
function about(id: string, answer: unknown): unknown {
  if (textIn(answer, 'id') === id) return answer
  throw new Unreadable('the answer is about another object')
}

/** The SDK takes any JSON without an `error` for a success, such as a proxy's own body under a 429 or 502. */
function successful(answer: unknown): unknown {
  const response = fieldIn(answer, 'lastResponse') as { statusCode?: number; headers?: object } | undefined
  if (response?.statusCode === undefined || response.statusCode < 300) return answer
  throw Object.assign(new Error('no success'), { statusCode: response.statusCode, headers: response.headers })
}

/**
 * Runs requests under a limit for the whole of each answer: the SDK's own limit only counts silence.
 * @throws what the SDK throws, or `SdkMissing`
 */
export async function request<T>(
  source: ClientSource,
  limit_ms: number,
  send: (client: StripeClient, options: RequestOptions) => Promise<T>,
): Promise<T> {
  const client = await source()
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no whole answer within ${limit_ms} ms`)), limit_ms)
  })
  try {
    return await Promise.race([send(client, { timeout: limit_ms, maxNetworkRetries: 0 }), limit])
  } finally {
    clearTimeout(timer)
  }
}
