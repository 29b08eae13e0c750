import { contentDigest, encodeContent, type Fact } from '../facts/fact.ts'
import type { NewFact, NewWitness, WitnessSource } from '../store/queries/insert-facts.ts'
import type { StoredFact } from '../store/queries/load-facts.ts'
import type { RefundKey } from '../store/queries/refund-key.ts'
import type { RefundWrite } from '../store/queries/upsert-refunds.ts'

/** A fact as an item tells it, with its stored form and everyone in this batch who tells it. */
export interface Statement {
  readonly fact: Fact
  readonly encoded: string
  readonly sources: WitnessSource[]
}

/** The statements about one subject, each once, whoever tells it how often. */
export class Statements {
  readonly #byIdentity = new Map<string, Statement>()

  add(fact: Fact, source: WitnessSource): void {
    const encoded = encodeContent(fact.content)
    const identity = `${fact.key}\n${fact.kind}\n${encoded}`
    const known = this.#byIdentity.get(identity)
    if (known) known.sources.push(source)
    else this.#byIdentity.set(identity, { fact, encoded, sources: [source] })
  }

  get size(): number {
    return this.#byIdentity.size
  }

  all(): Iterable<Statement> {
    return this.#byIdentity.values()
  }

  facts(): Fact[] {
    return [...this.#byIdentity.values()].map((statement) => statement.fact)
  }
}

/** What the store must take in: facts that are new (ids are given when they are written), further witnesses of known ones. */
export interface Intake {
  readonly facts: (Omit<NewFact, 'id'> & { readonly sources: readonly WitnessSource[] })[]
  readonly further: NewWitness[]
  /** Refunds to be written, with who tells of them, and those that nobody tells of any more. */
  readonly refunds: RefundWrite[]
  readonly gone_refunds: RefundKey[]
}

export function emptyIntake(): Intake {
  return { facts: [], further: [], refunds: [], gone_refunds: [] }
}

/**
 * Sorts statements about one subject into new and known, and gives the new ones. `stored` is what was read under the
 * subject's lock, so the unique key of the facts table can only agree.
 */
export function takeIn(
  intake: Intake,
  subject_id: bigint,
  statements: Statements,
  stored: readonly StoredFact[],
): Fact[] {
  const known = new Map(stored.map((fact) => [identity(fact.key, fact.digest), fact.id]))
  const fresh: Fact[] = []
  for (const statement of statements.all()) {
    const { fact, encoded, sources } = statement
    const digest = contentDigest(fact.kind, encoded)
    const fact_id = known.size > 0 ? known.get(identity(fact.key, digest)) : undefined
    if (fact_id !== undefined) {
      for (const source of sources) intake.further.push({ fact_id, source })
      continue
    }
    intake.facts.push({
      subject_id,
      subject_kind: fact.subject.kind,
      kind: fact.kind,
      key: fact.key,
      digest,
      content: encoded,
      sources,
    })
    fresh.push(fact)
  }
  return fresh
}

function identity(key: string, digest: Buffer): string {
  return `${key}\n${digest.toString('latin1')}`
}
