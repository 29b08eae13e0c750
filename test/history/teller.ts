import type { Fact } from '../../src/facts/fact.ts'
import type { Message } from './history.ts'

const START_MS = Date.parse('2025-03-01T00:00:00Z')
const STEP_MS = 60_000

/** Fields that a poorer message may leave out; the others are part of the fact's key. */
const OMISSIBLE = [
  'amount_minor',
  'currency',
  'moved_at',
  'order',
  'subscription',
  'method',
  'reason',
  'origin',
  'respond_by',
]
const REPEATED_KINDS = ['payment_milestone', 'refund_milestone', 'dispute_status']

/**
 * Collects the messages of one history while its story is told, on a clock of its own. Each statement is told at
 * least once in full; the noise decides which are told again by other messages, with fewer fields.
 */
export class Teller {
  readonly #noise: readonly number[]
  readonly #messages: Message[] = []
  #drawn = 0
  #clock_ms = START_MS

  constructor(noise: readonly number[]) {
    this.#noise = noise
  }

  get messages(): readonly Message[] {
    return this.#messages
  }

  /** The story's present time. */
  get now(): string {
    return isoSeconds(this.#clock_ms)
  }

  /** Lets time pass and gives the new present time. */
  later(steps = 1): string {
    this.#clock_ms += steps * STEP_MS
    return this.now
  }

  /** One message with these facts, perhaps followed or preceded by poorer ones about the same. */
  tell(...facts: readonly Fact[]): void {
    const before = this.#draw(3) === 0
    if (before) this.#tellPoorly(facts)
    this.#add(facts)
    if (!before && this.#draw(3) === 0) this.#tellPoorly(facts)
  }

  #tellPoorly(facts: readonly Fact[]): void {
    const poorer = facts
      .filter((fact) => REPEATED_KINDS.includes(fact.kind))
      .map((fact) => this.#impoverish(fact))
    if (poorer.length > 0) this.#add(poorer)
  }

  #impoverish(fact: Fact): Fact {
    const kept = Object.entries(fact.content).filter(
      ([name]) => !OMISSIBLE.includes(name) || this.#draw(2) === 0,
    )
    return { ...fact, content: Object.fromEntries(kept) } as unknown as Fact
  }

  #add(facts: readonly Fact[]): void {
    this.#messages.push({ id: `evt_${this.#messages.length + 1}`, at: this.now, facts })
  }

  #draw(below: number): number {
    const drawn = this.#noise[this.#drawn % this.#noise.length] ?? 0
    this.#drawn += 1
    return (drawn + this.#drawn) % below
  }
}

function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
