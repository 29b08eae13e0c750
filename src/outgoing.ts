import { type AlertOptions, type AlertsContext, alerts } from './effects/alerts.ts'
import type { Handlers } from './effects/functions.ts'
import { functions } from './effects/functions.ts'
import { log } from './effects/log.ts'
import type { Deliverer } from './effects/outcome.ts'
import { route } from './effects/route.ts'

/** One-shot topics. The alert about an exception is written whoever listens, so that a later listener hears of it. */
const ALERT = 'exception.opened'
const TAKEN = ['receipt.due', 'refund.due']

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

/** The one-shot topics that the `effects` option takes: a receipt or refund that nobody is there to send leaves no row. */
export function topicsOf(effects: Deliverer | Handlers | undefined): ReadonlySet<string> {
  if (effects === undefined) return new Set([ALERT])
  const taken = TAKEN.filter((topic) => typeof effects === 'function' || '*' in effects || topic in effects)
  return new Set([ALERT, ...taken])
}
