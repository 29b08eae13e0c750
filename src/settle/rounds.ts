/** Work that is done in rounds: again and again once it is started, or when somebody asks for one; never two at once. */
export class Rounds<Result> {
  readonly #round: () => Promise<Result>
  readonly #poll_ms: number
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #running: Promise<Result> | undefined
  #stopped = false

  /** @param poll_ms pause between two rounds, milliseconds */
  constructor(round: () => Promise<Result>, poll_ms: number, onError: (error: unknown) => void) {
    this.#round = round
    this.#poll_ms = poll_ms
    this.#onError = onError
  }

  /** True once `stop` was called; a long round looks at it between two parts. */
  get stopped(): boolean {
    return this.#stopped
  }

  start(): void {
    if (this.#stopped || this.#timer) return
    this.#timer = setTimeout(() => {
      this.runOnce()
        .catch((error) => this.#onError(error))
        .finally(() => {
          this.#timer = undefined
          this.start()
        })
    }, this.#poll_ms)
    this.#timer.unref()
  }

  /** Starts no further round and waits for the one that runs. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#running?.catch(() => undefined)
  }

  /** One round now; the one that runs, if one does. */
  runOnce(): Promise<Result> {
    this.#running ??= this.#round().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}
