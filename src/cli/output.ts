import { Presets, SingleBar } from 'cli-progress'

/** Where a command writes: a terminal, a pipe, or a client on the other side of the local channel. */
export interface Output {
  /** What was asked for; a script reads it. */
  write(text: string): void
  /** What a person should know besides; never part of the answer. */
  note(text: string): void
  /** How far long work has come; `null` when it is over. */
  progress(step: Progress | null): void
  /** Width in characters; a pipe has none. */
  readonly columns: number | null
}

export interface Progress {
  readonly label: string
  readonly done: number
  readonly total: number
}

/** The output of this process. Progress is shown on a terminal only, and on standard error, so that pipes stay clean. */
export function processOutput(
  stdout: NodeJS.WriteStream = process.stdout,
  stderr: NodeJS.WriteStream = process.stderr,
): Output {
  let bar: SingleBar | null = null
  const show = (step: Progress) => {
    if (bar === null) {
      const format = '{label} [{bar}] {value}/{total}'
      bar = new SingleBar(
        { format, stream: stderr, hideCursor: true, clearOnComplete: true },
        Presets.shades_classic,
      )
      bar.start(step.total, step.done, { label: step.label })
    }
    bar.setTotal(step.total)
    bar.update(step.done, { label: step.label })
  }
  const end = () => {
    bar?.stop()
    bar = null
  }
  return {
    write: (text) => void stdout.write(text),
    note: (text) => {
      end()
      stderr.write(text)
    },
    progress: (step) => {
      if (!stderr.isTTY) return
      if (step) show(step)
      else end()
    },
    columns: stdout.isTTY ? stdout.columns : null,
  }
}
