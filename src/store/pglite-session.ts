import { messages, type PGlite, protocol } from '@electric-sql/pglite'
import type { Parameter, Statement } from './database.ts'
import { encodeValue, type Parser, parserOf } from './value.ts'

const { serialize } = protocol

/**
 * The wire protocol to PGlite's one connection: each statement is parsed once under its name and is then one message.
 * Statements run one after another in the order of the calls; who may call is decided by the turns of `pglite.ts`.
 */
export class PgliteSession {
  readonly #pglite: PGlite
  readonly #prepared = new Map<string, string>()
  #tail: Promise<unknown> = Promise.resolve()

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  /** Throws, and gives no promise, for a value that cannot be encoded: nothing was sent then. */
  run<Row>(statement: Statement, values: readonly Parameter[]): Promise<Row[]> {
    const encoded = values.map(encodeValue)
    return this.#next(() => this.#runPrepared(statement, encoded)).then((answers) => rowsOf(answers) as Row[])
  }

  /** Runs a text without parameters, which may hold several statements. Resolves to the last command's tag. */
  async script(text: string): Promise<string> {
    const answers = await this.#next(() => this.#exchange([serialize.query(text)]))
    const tags = answers.filter((answer) => answer instanceof messages.CommandCompleteMessage)
    return tags.at(-1)?.text.split(' ', 1)[0] ?? ''
  }

  /** Calls back for notifications of a channel; returns the function that ends this. */
  hear(channel: string, heard: (payload: string) => void): () => void {
    return this.#pglite.onNotification((name, payload) => {
      if (name === channel) heard(payload)
    })
  }

  close(): Promise<void> {
    return this.#next(() => this.#pglite.close())
  }

  async #runPrepared({ name, text }: Statement, values: (string | Buffer | null)[]): Promise<Answer[]> {
    // The empty name is the unnamed statement, parsed anew each time: for texts that are not ours (a merchant's hook).
    const known = name === '' ? undefined : this.#prepared.get(name)
    if (known !== undefined && known !== text) {
      throw new Error(`Two statements are named ${name}. Give each text a name of its own.`)
    }
    const parse = known === undefined ? [serialize.parse({ name, text })] : []
    const answers = await this.#exchange(
      [
        ...parse,
        serialize.bind({ statement: name, values }),
        describe,
        serialize.execute(),
        serialize.sync(),
      ],
      () => name !== '' && this.#prepared.set(name, text),
    )
    return answers
  }

  async #exchange(parts: Uint8Array[], onParsed?: () => void): Promise<Answer[]> {
    const { messages: answers } = await this.#pglite.execProtocol(Buffer.concat(parts), {
      throwOnError: false,
      syncToFs: false,
    })
    if (answers.some(({ name }) => name === 'parseComplete')) onParsed?.()
    const failure = answers.find((answer) => answer instanceof messages.DatabaseError)
    if (failure !== undefined) throw failure
    return answers
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    // PGlite collects answers in one place per instance, so calls that overlap would read each other's.
    const done = this.#tail.then(work)
    this.#tail = done.catch(() => undefined)
    return done
  }
}

type Answer = Awaited<ReturnType<PGlite['execProtocol']>>['messages'][number]

const describe = serialize.describe({ type: 'P' })

function rowsOf(answers: readonly Answer[]): Record<string, unknown>[] {
  const rows: Record<string, unknown>[] = []
  let columns: { name: string; parse: Parser }[] = []
  for (const answer of answers) {
    if (answer instanceof messages.RowDescriptionMessage) {
      columns = answer.fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }))
    } else if (answer instanceof messages.DataRowMessage) {
      const row: Record<string, unknown> = {}
      for (const [index, { name, parse }] of columns.entries()) {
        const text = answer.fields[index] ?? null
        row[name] = text === null ? null : parse(text)
      }
      rows.push(row)
    }
  }
  return rows
}
