import type { EndpointOptions } from '../../../options.ts'
import type { Provider } from '../../../providers/contract.ts'
import type { FakeServer } from '../../../providers/fake-server.ts'
import type { SampleMessage } from '../../../providers/sample-maker.ts'
import type { OrderRegistration } from '../../../receive/orders.ts'
import type { StartedPayment } from '../../../reconcile/payment-start.ts'
import type { Dice } from '../dice.ts'

/** What one story of the bad day is about. */
export interface Sale {
  /** Names it for ever: letters, digits and underscores. */
  readonly seed: string
  /** Our order reference. */
  readonly reference: string
  readonly amount_minor: bigint
  readonly currency: string
  /** Unix seconds at which it was paid, as the provider tells it. */
  readonly at_s: number
}

/** One message, made and signed when it is sent. Any number of copies have the same body. */
export type Line = (secret: string, now_ms: number) => SampleMessage

/** How a message is spoilt before it is sent; `honest` ones are as the provider sends them. */
export type Spoilt = 'honest' | Forgery
export type Forgery = 'wrong_secret' | 'changed_after_signing' | 'truncated' | 'too_old'

export interface Delivery {
  readonly line: Line
  readonly spoilt: Spoilt
}

/** What a buyer's browser and the shop do at a provider that sends buyers away. */
export type Journey = (street: Street) => Promise<void>

/** What a journey leads through: the shop, and the way back to it. */
export interface Street {
  /** The shop begins the payment; another attempt is begun when the provider does not answer. */
  startPayment(sale: Sale): Promise<StartedPayment>
  /** The browser comes back with this query. `honest` is false for a query that somebody made up. */
  comeBack(query: string, honest: boolean): Promise<void>
}

export interface Story {
  /** Null for what needs no order: a subscription. */
  readonly order: OrderRegistration | null
  readonly registered: 'before' | 'after' | 'never'
  readonly scenes: readonly (Delivery | Journey)[]
  /** False when no money ever comes, whatever is claimed. */
  readonly paid: boolean
}

/** A kind of story, with its share of all stories of its teller. */
export interface Plot {
  readonly trouble: string
  readonly share: number
  readonly tell: (sale: Sale, dice: Dice) => Omit<Story, 'order'>
}

/** A player on the stage: its stand-in answers, and it can tell its stories. */
export interface Actor {
  readonly plots: readonly Plot[]
  /** Forgeries that its way of signing can tell from what is honest. */
  readonly forgeries: readonly Forgery[]
  /** Stand-in for its API; null where nobody is asked. */
  readonly standIn: FakeServer | null
}

/** An address where nobody listens. */
export const NOBODY = 'http://127.0.0.1:1'

/** One provider that takes part in the demo. */
export interface Player {
  /** Name of its endpoint. */
  readonly name: string
  readonly currencies: readonly [string, ...string[]]
  /** So many minor units of its currencies are worth a cent. Default 1. */
  readonly cent?: bigint
  /** False for what sells no orders. Default true. */
  readonly orders?: boolean
  /** An npm package without which it cannot be asked; it stays away where that is not installed. */
  readonly needs?: string
  /** True when a message is answered before the provider has been asked whether it is its own. Default false. */
  readonly believedLater?: boolean
  /** The secret of its endpoint in the provider's form, made of any letters and digits. */
  secret(seed: string): string
  /**
   * What stands behind the endpoint.
   * @param api address of the stand-in; for commands that only read what was stored, one where nobody answers
   */
  provider(secret: string, api: string): Provider | EndpointOptions
  /** Goes on the stage. */
  enter(secret: string): Promise<Actor>
  /** Changes a byte that the signature covers. Default: the first digit of the body. */
  alter?(body: string): string
}
