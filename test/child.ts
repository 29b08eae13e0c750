import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A TypeScript program of this folder in a process of its own, which talks by lines. */
export interface Child {
  readonly process: ChildProcess
  /** Resolves to the next line that it writes. Rejects when it ends instead. */
  line(): Promise<string>
  /** Kills it as `kill -9` does, and waits until it is gone. */
  kill(): Promise<void>
  /** Resolves to its exit code. */
  readonly ended: Promise<number | null>
}

/** Starts `test/children/<name>.ts` with arguments. */
export function startChild(name: string, ...args: readonly string[]): Child {
  const file = fileURLToPath(new URL(`children/${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, ['--import', import.meta.resolve('jiti/register'), file, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const lines = readLines(child)
  return {
    process: child,
    ended,
    line: () => lines.next(() => new Error(`${name} ended without a further line.\n${errors}`)),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function readLines(child: ChildProcess) {
  const ready: string[] = []
  const waiting: { resolve: (line: string) => void; reject: (error: Error) => void; why: () => Error }[] = []
  let rest = ''
  let over = false
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop()!
    for (const line of parts) {
      const next = waiting.shift()
      if (next === undefined) ready.push(line)
      else next.resolve(line)
    }
  })
  child.once('close', () => {
    over = true
    for (const { reject, why } of waiting) reject(why())
  })
  return {
    next: (why: () => Error) =>
      new Promise<string>((resolve, reject) => {
        const line = ready.shift()
        if (line !== undefined) resolve(line)
        else if (over) reject(why())
        else waiting.push({ resolve, reject, why })
      }),
  }
}
