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

/** Cuts a stream of lines apart and reads each as JSON. */
export class FrameReader<Frame> {
  #rest = ''
  readonly #heard: (frame: Frame) => void

  constructor(heard: (frame: Frame) => void) {
    this.#heard = heard
  }

  take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) this.#heard(JSON.parse(line) as Frame)
  }
}

export function frameLine(frame: ChannelFrame | ChannelRequest): string {
  return `${JSON.stringify(frame)}\n`
}
