import type { Socket } from 'node:net'
import type { PoolClient, QueryConfig, QueryResult } from 'pg'
import type { Parameter, Statement } from './database.ts'
import { driverFault } from './driver-fault.ts'
import { encodeValue, parserOf } from './value.ts'

const types: NonNullable<QueryConfig['types']> = {
  getTypeParser: parserOf as () => (text: string) => unknown,
}

/** One checked-out connection: sends statements in the order of the calls, and goes back to its pool or is destroyed. */
export class PostgresSession {
  readonly #client: PoolClient
  #tail: Promise<unknown> = Promise.resolve()
  #released = false
  #corked = false

  constructor(client: PoolClient) {
    this.#client = client
    client.on('error', ignoreLoss)
  }

  /** Starts a prepared statement at once; on a pipelining connection nothing waits for those before it. */
  run(statement: Statement, values: readonly Parameter[]): Promise<QueryResult> {
    const { name, text } = statement
    // The extended protocol takes one statement at a time, so a text without parameters cannot smuggle in a COMMIT.
    return this.#send({ name, text, values: values.map(encodeValue), types, queryMode: 'extended' })
  }

  /** Runs a text without parameters, which may hold several statements. Resolves to the last command's tag. */
  async script(text: string): Promise<string> {
    const results = (await this.#send({ text })) as QueryResult | QueryResult[]
    return (Array.isArray(results) ? results.at(-1)?.command : results.command) ?? ''
  }

  async #send(config: {
    text: string
    name?: string
    values?: unknown[]
    types?: QueryConfig['types']
    queryMode?: 'extended'
  }): Promise<QueryResult> {
    if (this.#released) throw new Error('This connection was given back to its pool.')
    try {
      if (this.#client.pipeline) {
        this.#cork()
        return await this.#client.query(config)
      }
      // Without pipelining `pg` is about to refuse a query while another runs, so they wait here.
      const sent = this.#tail.then(() => this.#client.query(config))
      this.#tail = sent.catch(() => undefined)
      return await sent
    } catch (error) {
      throw driverFault(error)
    }
  }

  /** Statements started in one turn leave in one write, instead of a system call each. */
  #cork(): void {
    if (this.#corked) return
    const { stream } = (this.#client as unknown as { connection: { stream: Socket } }).connection
    this.#corked = true
    stream.cork()
    process.nextTick(() => {
      this.#corked = false
      stream.uncork()
    })
  }

  /** Gives the connection back, unless it is still inside a transaction: then it is destroyed. */
  release(): void {
    if (this.#released) return
    const status = this.#client.getTransactionStatus?.()
    if (status === 'T' || status === 'E') {
      this.destroy()
      return
    }
    this.#released = true
    this.#client.removeListener('error', ignoreLoss)
    this.#client.release()
  }

  /** Closes the socket at once. The server rolls back when it notices. */
  destroy(): void {
    if (this.#released) return
    const { stream } = (this.#client as unknown as { connection: { stream: Socket } }).connection
    // The listener stays: the loss of the socket is reported after the pool has let go of the client.
    this.#released = true
    stream.destroy()
    this.#client.release(true)
  }
}

/** A lost connection rejects its queries; without a listener its event would also end the process. */
function ignoreLoss(): void {}
