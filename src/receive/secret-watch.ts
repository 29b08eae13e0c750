import type { Endpoint } from '../providers/endpoint.ts'
import type { Database } from '../store/database.ts'
import { openExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
import { listSecretUses, recordSecretUses, type SecretUse } from '../store/queries/record-secret-uses.ts'

export interface SecretWatchOptions {
  /** So long after the newest secret was first used, an older one should no longer be. Default 7. */
  readonly rotation_days?: number
  /** How often what was seen is written, milliseconds. Default 60,000. */
  readonly write_ms?: number
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: (error: unknown) => void
}

const DAY_MS = 86_400_000

/**
 * Notes in memory which secret each authentic delivery matched, and writes it now and then. When an endpoint's first
 * secret (the newest) has been in use for days and another still is, the sender was forgotten in a rotation: one exception.
 */
export class SecretWatch {
  readonly #database: Database
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #now_ms: () => number
  readonly #options: Required<SecretWatchOptions>
  readonly #used = new Map<string, { endpoint: Endpoint; secret_label: string; used_at_ms: number }>()
  #timer: NodeJS.Timeout | undefined

  /** @param now_ms the clock, Unix milliseconds */
  constructor(
    database: Database,
    endpoints: ReadonlyMap<string, Endpoint>,
    now_ms: () => number,
    options: SecretWatchOptions = {},
  ) {
    this.#database = database
    this.#endpoints = endpoints
    this.#now_ms = now_ms
    this.#options = {
      rotation_days: options.rotation_days ?? 7,
      write_ms: options.write_ms ?? 60_000,
      onError: options.onError ?? (() => undefined),
    }
  }

  /** Hears which secret a delivery matched. Returns at once. */
  used(endpoint: Endpoint, secret_label: string): void {
    const key = `${endpoint.name}\n${secret_label}`
    const known = this.#used.get(key)
    if (known) known.used_at_ms = this.#now_ms()
    else this.#used.set(key, { endpoint, secret_label, used_at_ms: this.#now_ms() })
    this.#timer ??= setTimeout(() => this.#flush(), this.#options.write_ms).unref()
  }

  /** Writes what was seen and raises what follows from it. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const seen = [...this.#used.values()]
    this.#used.clear()
    for (const bucket of new Set(seen.map(({ endpoint }) => endpoint.bucket))) {
      const uses = seen.filter(({ endpoint }) => endpoint.bucket === bucket)
      await recordSecretUses(
        this.#database,
        bucket,
        uses.map(({ endpoint, secret_label, used_at_ms }) => ({
          tenant: endpoint.tenant,
          endpoint: endpoint.name,
          secret_label,
          used_at: new Date(used_at_ms),
        })),
      )
      await this.#raise(bucket, await listSecretUses(this.#database, bucket))
    }
  }

  #flush(): void {
    this.write().catch(this.#options.onError)
  }

  async #raise(bucket: number, uses: readonly SecretUse[]): Promise<void> {
    const now = new Date(this.#now_ms())
    const raised = uses.flatMap((use) => this.#forgotten(use, uses, now))
    if (raised.length === 0) return
    await inTransaction(this.#database, (tx) => openExceptions(tx, bucket, now, raised))
  }

  #forgotten(use: SecretUse, uses: readonly SecretUse[], now: Date): NewException[] {
    const newest = this.#endpoints.get(use.endpoint)?.provider.secrets[0]?.label
    if (newest === undefined || newest === use.secret_label) return []
    if (now.getTime() - use.last_used_at.getTime() > DAY_MS) return []
    const since = uses.find((other) => other.endpoint === use.endpoint && other.secret_label === newest)
    const rotation_ms = this.#options.rotation_days * DAY_MS
    if (!since || now.getTime() - since.first_used_at.getTime() < rotation_ms) return []
    return [
      {
        tenant: use.tenant,
        subject_kind: 'endpoint',
        subject_id: 0n,
        subject_key: use.endpoint,
        kind: 'stale_secret',
        cause: use.secret_label,
        origin: 'receive',
        severity: 'warning',
        message: `Endpoint ${use.endpoint} still receives deliveries signed with its secret ${use.secret_label}, although ${newest} has been in use for more than ${this.#options.rotation_days} days. Finish the rotation at the provider, then remove the old secret.`,
        alert_at: now,
      },
    ]
  }
}
