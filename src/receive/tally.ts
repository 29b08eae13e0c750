/** How many deliveries each endpoint has answered since this process began, by outcome. */
export class Tally {
  readonly #endpoints: ReadonlyMap<string, unknown>
  readonly #counts = new Map<string, { endpoint: string; outcome: string; count: number }>()

  /** @param endpoints by name; any other name is counted as one, so that nobody can make up labels */
  constructor(endpoints: ReadonlyMap<string, unknown>) {
    this.#endpoints = endpoints
  }

  answered(name: string, outcome: string): void {
    const endpoint = this.#endpoints.has(name) ? name : '(unknown)'
    const key = `${outcome} ${endpoint}`
    const known = this.#counts.get(key)
    if (known) known.count += 1
    else this.#counts.set(key, { endpoint, outcome, count: 1 })
  }

  counts(): { readonly endpoint: string; readonly outcome: string; readonly count: number }[] {
    return [...this.#counts.values()].map((entry) => ({ ...entry }))
  }
}
