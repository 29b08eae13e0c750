import type { Progress } from './output.ts'

/** What a client asks the owner of the directory to run. */
export interface ChannelRequest {
  readonly args: readonly string[]
  /** Width of the client's terminal; null for none. */
  readonly columns: number | null
}

/** What comes back, one JSON object per line. The last one has `exit`. */
export type ChannelFrame =
  | { readonly out: string }
  | { readonly note: string }
  | { readonly progress: Progress | null }
  | { readonly exit: 0 | 1 | 2 }
  /** A defect of ours, as text. */
  | { readonly broken: string }

/** Longest line, characters; no answer of a command comes near it. */
const LINE_MAX = 64 * 1024 * 1024

/** Cuts a stream of lines apart and reads each as JSON. */
export class FrameReader<Frame> {
  #rest = ''
  readonly #heard: (frame: Frame) => void

  constructor(heard: (frame: Frame) => void) {
    this.#heard = heard
  }

  /** False when what comes in is no such stream; nothing more should be read from it then. */
  take(text: string): boolean {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) {
      const frame = parse(line)
      if (frame === undefined) return false
      this.#heard(frame as Frame)
    }
    return this.#rest.length <= LINE_MAX
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

export function frameLine(frame: ChannelFrame | ChannelRequest): string {
  return `${JSON.stringify(frame)}\n`
}
