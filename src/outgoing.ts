import { type AlertOptions, type AlertsContext, alerts } from './effects/alerts.ts'
import type { Handlers } from './effects/functions.ts'
import { functions } from './effects/functions.ts'
import { log } from './effects/log.ts'
import { type Deliverer, giveUp } from './effects/outcome.ts'
import { route } from './effects/route.ts'
import { Fault } from './facts/fault.ts'
import type { Operations } from './operations/operations.ts'
import { planDueRefund } from './operations/refund-due.ts'

/** One-shot topics. The alert about an exception is written whoever listens, so that a later listener hears of it. */
const ALERT = 'exception.opened'
const REFUND = 'refund.due'
const RECEIPT = 'receipt.due'

/** The deliverer that the `effects` and `alerts` options mean; without any, each effect becomes one line. */
export function delivererOf(
  options: {
    readonly effects?: Deliverer | Handlers | undefined
    readonly alerts?: AlertOptions | undefined
  },
  write: (line: string) => unknown,
  context: Omit<AlertsContext, 'otherwise'>,
): Deliverer {
  const otherwise = withoutAlerts(options.effects, write)
  if (options.alerts === undefined) return otherwise
  return route({ topics: { [ALERT]: alerts(options.alerts, { ...context, otherwise }) }, otherwise })
}

function withoutAlerts(
  effects: Deliverer | Handlers | undefined,
  write: (line: string) => unknown,
): Deliverer {
  if (effects === undefined) return log(write)
  if (typeof effects === 'function') return effects
  // An alert that nobody takes is still worth a line.
  return functions({ [ALERT]: log(write), ...effects })
}

/**
 * Refunds that become due by a policy are asked of the provider, unless `effects` has a handler of its own for them or no
 * endpoint can ask.
 */
export function withRefunds(
  effects: Deliverer | Handlers | undefined,
  operations: () => Operations,
  otherwise: Deliverer,
): Deliverer {
  if (typeof effects === 'object' && REFUND in effects) return otherwise
  const refund: Deliverer = async (effect, context) => {
    try {
      const problem = await planDueRefund(operations(), effect)
      return problem === null ? undefined : giveUp(problem)
    } catch (error) {
      if (error instanceof Fault && error.code === 'lookup_unsupported') return otherwise(effect, context)
      throw error
    }
  }
  return route({ topics: { [REFUND]: refund }, otherwise })
}

/** The one-shot topics that somebody takes: a receipt that nobody is there to send leaves no row. */
export function topicsOf(effects: Deliverer | Handlers | undefined): ReadonlySet<string> {
  if (effects === undefined) return new Set([ALERT, REFUND])
  const sends_receipts = typeof effects === 'function' || '*' in effects || RECEIPT in effects
  return new Set(sends_receipts ? [ALERT, REFUND, RECEIPT] : [ALERT, REFUND])
}
