import type { HookTransaction } from './hook.ts'
import type { SettleContext } from './settle.ts'

/**
 * Leaves the merchant's hook alone for a while when it keeps failing: a hook that always times out would otherwise
 * cost every batch its time limit. Meanwhile what needs the hook is kept, and settled when the pause is over.
 */
export class HookBreaker {
  readonly #now_ms: () => number
  readonly #failures_max: number
  readonly #pause_ms: number
  #failures = 0
  #open_until_ms = 0

  constructor(now_ms: () => number, failures_max: number, pause_ms: number) {
    this.#now_ms = now_ms
    this.#failures_max = failures_max
    this.#pause_ms = pause_ms
  }

  /** True while the hook is left alone. */
  get open(): boolean {
    return this.#now_ms() < this.#open_until_ms
  }

  succeeded(): void {
    this.#failures = 0
  }

  failed(): void {
    this.#failures += 1
    if (this.#failures < this.#failures_max) return
    this.#failures = 0
    this.#open_until_ms = this.#now_ms() + this.#pause_ms
  }

  /** The context with its hooks behind this breaker. */
  guard(context: SettleContext): SettleContext {
    const { onEntitlement, onRight } = context
    if (!onEntitlement && !onRight) return context
    const guarded =
      <Change>(hook: (change: Change, tx: HookTransaction) => Promise<void> | void) =>
      async (change: Change, tx: HookTransaction) => {
        if (this.open) throw new Error('The hook keeps failing and is left alone for a while.')
        await hook(change, tx)
      }
    return {
      ...context,
      onEntitlement: onEntitlement && guarded(onEntitlement),
      onRight: onRight && guarded(onRight),
      onHook: (failure) => {
        // While it is left alone nothing runs, so there is nothing to hear of.
        if (this.open && failure !== null) return
        if (failure === null) this.succeeded()
        else this.failed()
        context.onHook?.(failure)
      },
    }
  }
}
