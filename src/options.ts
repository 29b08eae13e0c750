import type pg from 'pg'
import { type AlertOptions, readAlerts } from './effects/alerts.ts'
import type { Handlers } from './effects/functions.ts'
import type { Deliverer } from './effects/outcome.ts'
import type { Mode } from './facts/event.ts'
import { Fault } from './facts/fault.ts'
import type { OrderItem } from './facts/order.ts'
import type { Provider } from './providers/contract.ts'
import type { BatcherOptions } from './receive/batcher.ts'
import { readCatalogue } from './receive/catalogue.ts'
import type { ReceiverOptions } from './receive/receiver.ts'
import type { PaymentReturn } from './reconcile/payment-return.ts'
import type { ReconcilerOptions } from './reconcile/reconciler.ts'
import { Schedule } from './reconcile/schedule.ts'
import { type PolicyOptions, policyProblem } from './rules/policy.ts'
import type { FindOrders, OnEntitlement, OnRight } from './settle/hook.ts'
import type { SettlerOptions } from './settle/settler.ts'
import { type WatchOptions, watchLimits } from './watch/watch-options.ts'

/** What `createPaidOnce` is given; a `paidonce.config.ts` exports the same. */
export interface PaidOnceOptions {
  /** Whether real money moves. A database belongs to one mode for ever; the other mode refuses to start on it. */
  readonly mode: Mode
  /** URL of a PostgreSQL server (14 or later), or your own `pg` pool. Left out: embedded PGlite in `directory`. */
  readonly database?: string | pg.Pool | undefined
  /** Where the embedded database lives. Default `.paidonce`. One process owns it. Not fsynced: survives a crash of the process, not of the power. */
  readonly directory?: string | undefined
  /** Schema of our tables in a PostgreSQL database. Default `paidonce`. */
  readonly schema?: string | undefined
  /** Receiving addresses by name: `/webhooks/<name>`. A provider alone, or with the tenant that it belongs to. */
  readonly endpoints: Readonly<Record<string, Provider | EndpointOptions>>
  /** Where buyers reach this installation, such as `https://pay.example.com`: they come back to `<public_url>/return/<endpoint>`. */
  readonly public_url?: string | undefined
  /**
   * When to compare what the providers list with what we know: a cron expression in UTC, such as `30 3 * * *`. Left out:
   * never by itself, and a webhook that is lost is found by nobody.
   */
  readonly reconcile?: ReconcileOptions | undefined
  /**
   * At least 32 characters that nobody can guess, the same in every process: signs the tokens with which buyers look how
   * their order stands (`GET /confirm/<reference>`). Left out: no tokens, and that address answers 404.
   */
  readonly confirm_secret?: string | undefined
  /** Tenant of endpoints and orders that name none. Default `default`. */
  readonly tenant?: string | undefined
  /** Over how many buckets tenants are spread; fixed at the first migration. Default 1; 64 for Citus. */
  readonly buckets?: number | undefined
  /** Apply pending migrations at the start. Default true. Otherwise `paidonce migrate` has to have done it. */
  readonly migrate?: boolean | undefined
  /** Writes your own tables in the transaction that changes a right. Database work only. */
  readonly onEntitlement?: OnEntitlement | undefined
  /** The same for what a holder has from all orders together; only for orders that name a `holder`. */
  readonly onRight?: OnRight | undefined
  /** Finds orders in your own tables, in the same transaction, when a payment names one that nobody registered. */
  readonly findOrders?: FindOrders | undefined
  /**
   * What money that goes back does to access, and what is done by itself, where it differs from the defaults
   * (`docs/policies.md`). Pinned to each order when it is registered; an order may be registered with options of its own.
   */
  readonly policy?: PolicyOptions | undefined
  /**
   * What each price gives, by the provider's price id, for recurring orders registered with `by_price` (`docs/rights.md`).
   * Pinned to an order when its subscription first has that price. What waits for a price that is added runs by itself.
   */
  readonly catalogue?: Readonly<Record<string, readonly OrderItem[]>> | undefined
  /** How effects leave: a deliverer for all, or handlers by topic (`'*'` for the rest). Default: one log line each. */
  readonly effects?: Deliverer | Handlers | undefined
  /** Who is told of exceptions, how, and when not. Default: what `effects` does with `exception.opened`. */
  readonly alerts?: AlertOptions | undefined
  /** After how long silence, stuck work and near deadlines become exceptions. Each has its own default. */
  readonly watches?: WatchOptions | undefined
  /** Limits of the receiving path. Each has its own default. */
  readonly limits?:
    | (ReceiverOptions &
        BatcherOptions &
        SettlerOptions & { readonly hook_limit_ms?: number; readonly pool_max?: number })
    | undefined
  /** Hears what a person should read: steps of the start, faults. Never a payload or a secret. Default: silent. */
  readonly log?:
    | ((
        level: 'info' | 'warn' | 'error',
        message: string,
        details?: Readonly<Record<string, unknown>>,
      ) => void)
    | undefined
}

export interface ReconcileOptions {
  /** Cron expression, UTC. */
  readonly at: string
  /** By how much a window reaches back into the one before, hours. Default 24. */
  readonly overlap_hours?: number | undefined
  /** How far back the first run looks, days. Default 7. */
  readonly first_days?: number | undefined
  /** By how much amounts may differ and still match, minor units. Default 0n. */
  readonly tolerance_minor?: bigint | undefined
}

export interface EndpointOptions {
  readonly provider: Provider
  readonly tenant?: string | undefined
  /** The page of yours to which a buyer who comes back to `/return/<name>` is sent on. Default: a plain page of ours. */
  readonly returnTo?: ((back: PaymentReturn) => string) | undefined
}

const ENDPOINT_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/i

/** Refuses at the start what would hurt later. Throws Fault `config_invalid` or `mode_mismatch`. */
export function checkOptions(options: PaidOnceOptions): void {
  if (options.mode !== 'live' && options.mode !== 'test') {
    throw new Fault(
      'config_invalid',
      "Set `mode` to 'live' or 'test'. A database belongs to one of them for ever.",
    )
  }
  if (options.alerts !== undefined) readAlerts(options.alerts)
  watchLimits(options.watches)
  readCatalogue(options.catalogue)
  reconcilerOptions(options.reconcile)
  if (options.confirm_secret !== undefined && options.confirm_secret.trim().length < 32) {
    throw new Fault(
      'secret_missing',
      '`confirm_secret` has fewer than 32 characters. Make one with `openssl rand -base64 32`.',
    )
  }
  const problem = policyProblem(options.policy ?? {})
  if (problem !== null) throw new Fault('config_invalid', problem)
  const owners = new Map<string, string>()
  for (const [name, given] of Object.entries(options.endpoints ?? {})) {
    if (!ENDPOINT_NAME.test(name)) {
      throw new Fault(
        'config_invalid',
        `Endpoint name ${JSON.stringify(name)} does not fit in a path. Use letters, digits, - and _.`,
      )
    }
    const { provider } = endpointOptions(given)
    if (provider.secrets_mode !== null && provider.secrets_mode !== options.mode) {
      throw new Fault(
        'mode_mismatch',
        `Endpoint ${name} has a ${provider.secrets_mode} key and this installation is ${options.mode}. Use the ${options.mode} key, or a ${provider.secrets_mode} installation.`,
      )
    }
    for (const { fingerprint } of provider.secrets) {
      const account = `${provider.provider}/${provider.account}`
      const owner = owners.get(fingerprint)
      if (owner !== undefined && owner !== account) {
        throw new Fault(
          'config_invalid',
          `Endpoints of ${owner} and ${account} share a secret, so a delivery for one would be believed by the other. Give each its own.`,
        )
      }
      owners.set(fingerprint, account)
    }
  }
}

/** Throws Fault `config_invalid`. */
export function reconcilerOptions(options: ReconcileOptions | undefined): ReconcilerOptions {
  if (options === undefined) return {}
  const { at, overlap_hours = 24, first_days = 7, tolerance_minor = 0n } = options
  for (const [name, value] of Object.entries({ overlap_hours, first_days })) {
    if (!Number.isFinite(value) || value <= 0)
      throw new Fault('config_invalid', `\`reconcile.${name}\` is a number above 0.`)
  }
  return {
    schedule: new Schedule(at),
    overlap_ms: overlap_hours * 3_600_000,
    first_ms: first_days * 86_400_000,
    tolerance_minor,
  }
}

export function endpointOptions(given: Provider | EndpointOptions): EndpointOptions {
  return 'verify' in given ? { provider: given } : given
}
