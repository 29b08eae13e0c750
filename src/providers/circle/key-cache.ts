import { Fault } from '../../facts/fault.ts'

/** Fetches what an id or address stands for; null when the provider says that there is nothing. */
export type LoadKey<Key> = (id: string, now_ms: number) => Promise<Key | null>

/** Keys change rarely; so many are kept, and the oldest makes room. */
const KEPT_MAX = 200
/** Ids that the provider does not know are not asked for again so soon. */
const UNKNOWN_MS = 300_000
const UNKNOWN_MAX = 1_000
/** A stranger may name any id: no more than so many are asked for in a minute. */
const ASKED_PER_MINUTE = 60

/**
 * Keys by id: each is fetched once, also when many messages wait for it, and kept, since the key of an id never changes.
 * Keys known beforehand are never fetched.
 */
export class KeyCache<Key> {
  readonly #load: LoadKey<Key>
  readonly #pinned: ReadonlyMap<string, Key>
  readonly #kept = new Map<string, Key>()
  readonly #unknown_until_ms = new Map<string, number>()
  readonly #coming = new Map<string, Promise<Key | null>>()
  #minute_ms = 0
  #asked = 0

  constructor(load: LoadKey<Key>, pinned: ReadonlyMap<string, Key> = new Map()) {
    this.#load = load
    this.#pinned = pinned
  }

  /**
   * The key of an id, at once when it is known; null when there is none.
   * Rejects with Fault `provider_unavailable` when it cannot be had now.
   */
  get(id: string, now_ms: number): Key | null | Promise<Key | null> {
    const known = this.#pinned.get(id) ?? this.#kept.get(id)
    if (known !== undefined) return known
    const until_ms = this.#unknown_until_ms.get(id)
    if (until_ms !== undefined && Math.abs(until_ms - now_ms) <= UNKNOWN_MS && now_ms < until_ms) return null
    return this.#coming.get(id) ?? this.#fetch(id, now_ms)
  }

  /** Forgets a key that is no longer good. */
  forget(id: string): void {
    this.#kept.delete(id)
  }

  #fetch(id: string, now_ms: number): Promise<Key | null> {
    if (!this.#mayAsk(now_ms)) {
      const reason = `More than ${ASKED_PER_MINUTE} unknown signing keys were named within a minute. Deliver again.`
      return Promise.reject(new Fault('provider_unavailable', reason, { retriable: true }))
    }
    const coming = this.#load(id, now_ms)
      .then((key) => {
        if (key === null) keep(this.#unknown_until_ms, id, now_ms + UNKNOWN_MS, UNKNOWN_MAX)
        else keep(this.#kept, id, key, KEPT_MAX)
        return key
      })
      .finally(() => this.#coming.delete(id))
    this.#coming.set(id, coming)
    return coming
  }

  #mayAsk(now_ms: number): boolean {
    if (Math.abs(now_ms - this.#minute_ms) >= 60_000) {
      this.#minute_ms = now_ms
      this.#asked = 0
    }
    this.#asked += 1
    return this.#asked <= ASKED_PER_MINUTE
  }
}

function keep<Value>(map: Map<string, Value>, id: string, value: Value, most: number): void {
  map.delete(id)
  map.set(id, value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}
