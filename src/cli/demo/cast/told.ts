import type { SampleMessage } from '../../../providers/sample-maker.ts'
import type { Line } from './player.ts'

/** Signs a body as the provider does. */
export type Sign = (body: string, secret: string, now_ms: number) => SampleMessage

/** Something that happens at a stand-in. */
export interface Happening {
  /** Makes it happen, unless it has happened. */
  happen(): void
  /** The messages that the stand-in tells of it. */
  readonly lines: readonly Line[]
}

/**
 * What happens at a stand-in, each thing once: it happens when the first message about it is sent, and what the stand-in
 * tells of it is kept, so that copies are alike.
 */
export class Happenings {
  readonly #told: () => readonly string[]
  readonly #sign: Sign
  readonly #kept = new Map<string, readonly string[]>()

  /** @param told bodies of everything that the stand-in has told so far, oldest first */
  constructor(told: () => readonly string[], sign: Sign) {
    this.#told = told
    this.#sign = sign
  }

  /**
   * @param name under which it happens once
   * @param count how many messages the stand-in tells of it
   * @param first what has to have happened before
   */
  happening(name: string, count: number, act: () => unknown, first?: Happening): Happening {
    const happen = () => this.#kept.get(name) ?? this.#happen(name, act, first)
    const lines = Array.from({ length: count }, (_, place) => (secret: string, now_ms: number) => {
      const told = happen()
      if (told.length !== count) throw new Error(`${name}: the stand-in told ${told.length}, not ${count}.`)
      return this.#sign(told[place]!, secret, now_ms)
    })
    return { lines, happen: () => void happen() }
  }

  #happen(name: string, act: () => unknown, first: Happening | undefined): readonly string[] {
    first?.happen()
    const before = this.#told().length
    act()
    const told = this.#told().slice(before)
    this.#kept.set(name, told)
    return told
  }
}

export function posted(headers: Readonly<Record<string, string>>, body: string): SampleMessage {
  return { method: 'POST', query: '', headers, body }
}
