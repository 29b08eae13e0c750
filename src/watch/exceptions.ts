import type { ExceptionKind, Severity } from '../facts/exception.ts'
import { EXCEPTION_GUIDE } from '../facts/exception-guide.ts'
import { Fault } from '../facts/fault.ts'
import type { Database, Transaction } from '../store/database.ts'
import { closeOpenExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import {
  acknowledgeException,
  assignException,
  type ExceptionNote,
  type FoundException,
  findException,
  insertExceptionNote,
  listExceptionNotes,
  lockException,
  type NoteKind,
} from '../store/queries/decide-exception.ts'
import { type ExceptionRow, listExceptions } from '../store/queries/list-exceptions.ts'

/** Which exceptions to list; what is left out does not narrow. */
export interface ExceptionQuery {
  /** Default `open`. */
  readonly state?: 'open' | 'closed' | 'all' | undefined
  readonly kind?: ExceptionKind | undefined
  readonly severity?: Severity | undefined
  /** Whoever has it; an empty text for those that nobody has. */
  readonly owner?: string | undefined
  /** An order's reference, `namespace/account/id` of a payment or subscription, the name of an endpoint. */
  readonly subject?: string | undefined
  /** Only those that have been open for at least so long, milliseconds. */
  readonly older_than_ms?: number | undefined
  readonly tenant?: string | undefined
  /** Default 100. */
  readonly limit?: number | undefined
}

/** An exception as people see it. */
export interface Exception extends ExceptionRow {
  /** How long it has been open, or was, milliseconds. */
  readonly age_ms: number
  /** What to do next, in plain words. */
  readonly next: string
  /** What will close it. */
  readonly ends: string
}

export interface ExceptionStory extends Exception {
  /** Everything that happened to it, oldest first: openings, closings, and what people did. */
  readonly history: readonly ExceptionNote[]
}

/** Who does something about an exception. */
export interface ExceptionAct {
  readonly id: bigint
  /** A name that others understand. */
  readonly actor: string
}

/** What a person must decide, and what people do about it. */
export class Exceptions {
  readonly #database: Database
  readonly #buckets: number
  readonly #now_ms: () => number

  /** @param now_ms the clock, Unix milliseconds */
  constructor(database: Database, buckets: number, now_ms: () => number) {
    this.#database = database
    this.#buckets = buckets
    this.#now_ms = now_ms
  }

  /** Exceptions: open before closed, urgent first, then the newest first. */
  async list(query: ExceptionQuery = {}): Promise<Exception[]> {
    const { state = 'open', older_than_ms, limit = 100, ...rest } = query
    const filter = {
      ...rest,
      limit,
      state: state === 'all' ? undefined : state,
      opened_before: older_than_ms === undefined ? undefined : new Date(this.#now_ms() - older_than_ms),
    }
    const rows: ExceptionRow[] = []
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      rows.push(...(await listExceptions(this.#database, bucket, filter)))
    }
    return rows
      .sort(byUrgency)
      .slice(0, limit)
      .map((row) => this.#inWords(row))
  }

  /** One exception with its history. Throws Fault `not_found`. */
  async show(id: bigint): Promise<ExceptionStory> {
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      const found = await findException(this.#database, bucket, id)
      if (!found) continue
      const { subject_id: _, ...row } = found
      return { ...this.#inWords(row), history: await listExceptionNotes(this.#database, bucket, id) }
    }
    throw unknown(id)
  }

  /**
   * Gives an exception to somebody; an empty owner gives it to nobody. It stays with them when it opens again.
   * Throws Fault `not_found`, `decision_invalid`.
   */
  async assign(act: ExceptionAct & { readonly owner: string }): Promise<void> {
    const owner = act.owner === '' ? '' : worded(act.owner, 'owner')
    await this.#act(act, 'assigned', owner, (tx, bucket) => assignException(tx, bucket, act.id, owner))
  }

  /** Says that somebody has seen it. When it opens again it is to be seen anew. Throws Fault `not_found`, `decision_invalid`. */
  acknowledge(act: ExceptionAct): Promise<void> {
    return this.#act(act, 'acknowledged', '', (tx, bucket, now, actor) =>
      acknowledgeException(tx, bucket, act.id, now, actor),
    )
  }

  /** Writes something down about it, at most 2,000 characters. Throws Fault `not_found`, `decision_invalid`. */
  async note(act: ExceptionAct & { readonly text: string }): Promise<void> {
    await this.#act(act, 'note', worded(act.text, 'text', NOTE_MAX), async () => undefined)
  }

  /**
   * Closes an exception by hand, and takes its alert back if nobody got it yet. Those that the rules raise close only by
   * facts or by a decision about the money. One whose cause still holds opens again by itself.
   * Throws Fault `not_found`, `decision_invalid`, `exception_ruled`.
   */
  resolve(act: ExceptionAct & { readonly reason: string }): Promise<void> {
    return this.#locked(act, async (tx, bucket, now, actor, found) => {
      const reason = worded(act.reason, 'reason')
      if (found.state === 'closed') return
      if (found.origin === 'rules') {
        throw new Fault(
          'exception_ruled',
          `Exception ${found.id} (${found.kind}) says what the facts say, so it closes only by facts or by a decision about the money. Next: ${EXCEPTION_GUIDE[found.kind].next}.`,
        )
      }
      await closeOpenExceptions(tx, bucket, now, [found], { actor, reason })
    })
  }

  #act(
    act: ExceptionAct,
    kind: NoteKind,
    words: string,
    write: (tx: Transaction, bucket: number, now: Date, actor: string) => Promise<void>,
  ): Promise<void> {
    return this.#locked(act, async (tx, bucket, now, actor, { occurrence }) => {
      await write(tx, bucket, now, actor)
      await insertExceptionNote(tx, bucket, act.id, { noted_at: now, occurrence, kind, actor, words })
    })
  }

  async #locked(
    { id, actor }: ExceptionAct,
    work: (tx: Transaction, bucket: number, now: Date, actor: string, found: FoundException) => Promise<void>,
  ): Promise<void> {
    const name = worded(actor, 'actor')
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      if (!(await findException(this.#database, bucket, id))) continue
      await inTransaction(this.#database, async (tx) => {
        const found = await lockException(tx, bucket, id)
        if (!found) throw unknown(id)
        await work(tx, bucket, new Date(this.#now_ms()), name, found)
      })
      return
    }
    throw unknown(id)
  }

  #inWords(row: ExceptionRow): Exception {
    const until_ms = row.closed_at?.getTime() ?? this.#now_ms()
    const { next, ends } = EXCEPTION_GUIDE[row.kind]
    return { ...row, age_ms: Math.max(0, until_ms - row.opened_at.getTime()), next, ends }
  }
}

const NOTE_MAX = 2_000
const URGENCY: Readonly<Record<Severity, number>> = { urgent: 0, warning: 1, notice: 2 }

function byUrgency(a: ExceptionRow, b: ExceptionRow): number {
  return (
    Number(a.state === 'closed') - Number(b.state === 'closed') ||
    URGENCY[a.severity] - URGENCY[b.severity] ||
    b.opened_at.getTime() - a.opened_at.getTime() ||
    (a.id < b.id ? 1 : -1)
  )
}

/** Lines are allowed; other control characters, and halves of characters, are not: no database keeps them. */
function worded(text: string, what: string, longest = 255): string {
  const clean = text.trim()
  if (clean !== '' && clean.length <= longest && !/[\p{Cs}\p{Cc}]/u.test(clean.replaceAll('\n', '')))
    return clean
  throw new Fault('decision_invalid', `Give \`${what}\`: 1 to ${longest} characters, no control characters.`)
}

function unknown(id: bigint): Fault {
  return new Fault('not_found', `There is no exception ${id}. List them with \`paidonce exceptions\`.`)
}
