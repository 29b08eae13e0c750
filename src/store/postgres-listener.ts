import pg from 'pg'
import { openingFault } from './driver-fault.ts'

type Heard = (payload: string) => void

const firstPause_ms = 100
const longestPause_ms = 10_000

/**
 * Hears notifications on one connection of its own, opened at the first channel and opened again when it is lost.
 * What was sent while it was away is lost, so a hearer must also look by itself from time to time.
 */
export class PostgresListener {
  readonly #config: pg.ClientConfig
  readonly #channels = new Map<string, Set<Heard>>()
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined
  #pause: NodeJS.Timeout | undefined
  #closed = false

  constructor(config: pg.ClientConfig) {
    this.#config = config
  }

  async listen(channel: string, heard: Heard): Promise<() => Promise<void>> {
    const hearers = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, hearers.add(heard))
    try {
      const client = await this.#connected()
      await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      hearers.delete(heard)
      throw openingFault(error)
    }
    return () => this.#stop(channel, heard)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#pause)
    const client = this.#client ?? (await this.#connecting?.catch(() => undefined))
    await client?.end().catch(() => undefined)
  }

  async #stop(channel: string, heard: Heard): Promise<void> {
    const hearers = this.#channels.get(channel)
    if (hearers?.delete(heard) !== true || hearers.size > 0) return
    this.#channels.delete(channel)
    await this.#client?.query(`unlisten ${pg.escapeIdentifier(channel)}`).catch(() => undefined)
  }

  #connected(): Promise<pg.Client> {
    if (this.#client !== undefined) return Promise.resolve(this.#client)
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#config, pipeline: false })
    client.on('error', () => undefined)
    client.on('notification', ({ channel, payload }) => {
      for (const heard of this.#channels.get(channel) ?? []) heard(payload ?? '')
    })
    await client.connect()
    client.on('end', () => this.#lost(client))
    for (const channel of this.#channels.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    this.#client = client
    return client
  }

  #lost(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
    if (!this.#closed && this.#channels.size > 0) this.#reconnect(firstPause_ms)
  }

  #reconnect(pause_ms: number): void {
    clearTimeout(this.#pause)
    this.#pause = setTimeout(() => {
      this.#connected().catch(() => {
        if (!this.#closed) this.#reconnect(Math.min(pause_ms * 2, longestPause_ms))
      })
    }, pause_ms)
    this.#pause.unref()
  }
}
