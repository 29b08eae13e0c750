import { textIn } from '../field.ts'
import { eventBody, idFrom, paddleTime } from './made-up.ts'

interface Version {
  readonly at_ms: number
  readonly value: object
}

/** What a stand-in remembers: every version of every object, for answers that lag, and the events that told of them. */
export class FakeStore {
  readonly now_ms: () => number
  readonly events: string[] = []
  readonly #versions = new Map<string, Version[]>()

  constructor(now_ms: () => number) {
    this.now_ms = now_ms
  }

  put(kind: string, value: object, event: string): void {
    const at_ms = this.now_ms()
    const name = `${kind} ${textIn(value, 'id')}`
    this.#versions.set(name, [...(this.#versions.get(name) ?? []), { at_ms, value }])
    const id = idFrom('evt', event, name, this.events.length)
    this.events.push(eventBody({ type: event, id, at_s: Math.floor(at_ms / 1000), data: value }))
  }

  /** The object as it was then; undefined when there was none. */
  read(kind: string, id: string, at_ms = this.now_ms()): object | undefined {
    return this.#versions.get(`${kind} ${id}`)?.findLast((version) => version.at_ms <= at_ms)?.value
  }

  all(kind: string, at_ms = this.now_ms()): readonly object[] {
    const names = [...this.#versions.keys()].filter((name) => name.startsWith(`${kind} `))
    return names.flatMap((name) => this.read(kind, name.slice(kind.length + 1), at_ms) ?? [])
  }

  decide(id: string, status: string): void {
    const before = this.read('adjustment', id)
    if (before === undefined) throw new RangeError(`the stand-in has no adjustment ${id}`)
    const updated_at = paddleTime(Math.floor(this.now_ms() / 1000))
    this.put('adjustment', { ...before, status, updated_at }, 'adjustment.updated')
  }
}
