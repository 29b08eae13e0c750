import type { ExceptionKind, Severity } from '../facts/exception.ts'
import { EXCEPTION_GUIDE } from '../facts/exception-guide.ts'
import { Fault } from '../facts/fault.ts'
import { bucketOf } from '../store/bucket.ts'
import type { Database } from '../store/database.ts'
import { type DigestLimits, type DigestOptions, deliverAlert } from './alerts-digest.ts'
import { type QuietFor, type QuietHours, quietFor } from './alerts-quiet.ts'
import { type Deliverer, hold } from './outcome.ts'

/** One way to a person. */
export interface AlertRoute {
  /** How: `slack`, `email`, `signedHttp`, or a function of yours. A digest comes as topic `exception.digest`. */
  readonly to: Deliverer
  /** Only what is at least so severe. Default: everything. */
  readonly severity?: Severity | undefined
  /** Only these kinds. Default: all. */
  readonly kinds?: readonly ExceptionKind[] | undefined
}

/** Who is told of exceptions, how, and when not. */
export interface AlertOptions {
  /** The first that matches takes an alert, so each goes one way. What none takes goes where `effects` says. */
  readonly routes: readonly AlertRoute[]
  /** When many become one message; `false` for never. */
  readonly digest?: DigestOptions | false | undefined
  /** When nobody is told of what is not urgent; it is told when they are over, unless it has explained itself. */
  readonly quiet?: QuietHours | undefined
}

export interface AlertsContext {
  readonly database: Database
  /** How many buckets the installation has. */
  readonly buckets: number
  /** The clock, Unix milliseconds. */
  readonly now_ms: () => number
  /** Takes what no route takes. */
  readonly otherwise: Deliverer
}

interface Way {
  readonly to: Deliverer
  /** What goes this way, as `kind severity`. */
  readonly like: readonly string[]
}

const SEVERITIES: readonly Severity[] = ['notice', 'warning', 'urgent']
const KINDS = Object.keys(EXCEPTION_GUIDE) as readonly ExceptionKind[]

/** Delivers `exception.opened` by routes, quiet hours and digests. Throws Fault `config_invalid` for options that cannot be. */
export function alerts(options: AlertOptions, context: AlertsContext): Deliverer {
  const { ways, limits, quiet } = readAlerts(options)
  const { database, buckets, now_ms, otherwise } = context
  return (effect, delivery) => {
    const name = `${effect.payload.kind} ${effect.payload.severity}`
    const way = ways.find(({ like }) => like.includes(name))
    if (!way) return otherwise(effect, delivery)
    const urgent = effect.payload.severity === 'urgent'
    const wait_ms = quiet === null ? 0 : quiet(now_ms())
    if (wait_ms > 0 && !urgent) return hold(wait_ms)
    if (limits === null) return way.to(effect, delivery)
    // Whoever is told at night is told of what is urgent alone.
    const like = wait_ms > 0 ? way.like.filter((one) => one.endsWith(' urgent')) : way.like
    const bucket = bucketOf(effect.tenant, buckets)
    return deliverAlert(database, now_ms, limits, { effect, bucket, like, urgent, to: way.to }, delivery)
  }
}

interface Read {
  readonly ways: readonly Way[]
  readonly limits: DigestLimits | null
  readonly quiet: QuietFor | null
}

/** Throws Fault `config_invalid`. */
export function readAlerts({ routes, digest = {}, quiet }: AlertOptions): Read {
  if (!Array.isArray(routes) || routes.length === 0) {
    throw invalid(
      '`alerts.routes` names nobody. Give at least one `{ to: slack({ url }) }`, or leave `alerts` out.',
    )
  }
  const taken = new Set<string>()
  const ways = routes.map((route: AlertRoute, place) => {
    const like = matches(route, place).filter((name) => !taken.has(name))
    for (const name of like) taken.add(name)
    if (like.length === 0) {
      throw invalid(`\`alerts.routes[${place}]\` never gets anything: routes before it take all of it.`)
    }
    return { to: route.to, like }
  })
  return {
    ways,
    limits: digest === false ? null : digestLimits(digest),
    quiet: quiet ? quietFor(quiet) : null,
  }
}

function matches({ to, severity = 'notice', kinds = KINDS }: AlertRoute, place: number): string[] {
  if (typeof to !== 'function') throw invalid(`\`alerts.routes[${place}].to\` is no deliverer.`)
  if (!SEVERITIES.includes(severity)) {
    throw invalid(`\`alerts.routes[${place}].severity\` is ${SEVERITIES.join(', ')}, not ${severity}.`)
  }
  for (const kind of kinds) {
    if (!Object.hasOwn(EXCEPTION_GUIDE, kind)) {
      throw invalid(`\`alerts.routes[${place}].kinds\`: there is no ${kind}. docs/exceptions.md lists all.`)
    }
  }
  const severe = SEVERITIES.slice(SEVERITIES.indexOf(severity))
  return kinds.flatMap((kind) => severe.map((one) => `${kind} ${one}`))
}

function digestLimits({ more_than = 5, within_ms = 600_000 }: DigestOptions): DigestLimits {
  if (!Number.isSafeInteger(more_than) || more_than < 1 || more_than > 100) {
    throw invalid('`alerts.digest.more_than` must be a whole number from 1 to 100.')
  }
  if (!Number.isSafeInteger(within_ms) || within_ms < 1_000 || within_ms > 86_400_000) {
    throw invalid('`alerts.digest.within_ms` must be from 1,000 (a second) to 86,400,000 (a day).')
  }
  return { more_than, within_ms }
}

function invalid(message: string): Fault {
  return new Fault('config_invalid', message)
}
