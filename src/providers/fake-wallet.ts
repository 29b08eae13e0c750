/** One payment at a stand-in of a wallet. */
export interface WalletPayment<State> {
  readonly id: string
  readonly amount_minor: bigint
  /** States that it has had, oldest first. */
  readonly history: readonly { readonly at_ms: number; readonly state: State }[]
}

/** The payments of a wallet's stand-in, with their past, so that reads can lag behind. */
export class FakeWallet<State> {
  readonly #payments = new Map<string, WalletPayment<State>>()
  readonly #now_ms: () => number

  constructor(now_ms: () => number) {
    this.#now_ms = now_ms
  }

  /** @returns false when there is one of this id already */
  open(id: string, amount_minor: bigint, state: State): boolean {
    if (this.#payments.has(id)) return false
    this.#payments.set(id, { id, amount_minor, history: [{ at_ms: this.#now_ms(), state }] })
    return true
  }

  /** @throws Error when there is none */
  change(id: string, state: State): void {
    const payment = this.#payments.get(id)
    if (payment === undefined) throw new Error(`The stand-in has no payment ${id}.`)
    this.#payments.set(id, { ...payment, history: [...payment.history, { at_ms: this.#now_ms(), state }] })
  }

  /** A payment and its state of `lag_ms` ago; null when there was none then. */
  read(id: string, lag_ms: number): { readonly amount_minor: bigint; readonly state: State } | null {
    const payment = this.#payments.get(id)
    const seen = payment?.history.findLast(({ at_ms }) => at_ms <= this.#now_ms() - lag_ms)
    return payment && seen ? { amount_minor: payment.amount_minor, state: seen.state } : null
  }

  get ids(): readonly string[] {
    return [...this.#payments.keys()]
  }
}
