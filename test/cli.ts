import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { ExitStatus } from '../src/cli/command.ts'
import { command } from '../src/cli/main.ts'
import type { Progress } from '../src/cli/output.ts'
import { migrate } from '../src/store/migrate.ts'
import { openPglite } from '../src/store/pglite.ts'

/** What a command printed and how it ended. */
export interface Ran {
  readonly status: ExitStatus
  readonly out: string
  readonly notes: string
  readonly progress: readonly Progress[]
  /** The answer of a command with `--json`. */
  json<T = Record<string, unknown>>(): T
}

/** Runs a command line in this process. */
export async function paidonce(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  let out = ''
  let notes = ''
  const progress: Progress[] = []
  const status = await command(args, {
    cwd: options.cwd ?? tmpdir(),
    env: options.env ?? {},
    out: {
      write: (text) => {
        out += text
      },
      note: (text) => {
        notes += text
      },
      progress: (step) => {
        if (step) progress.push(step)
      },
      columns: null,
    },
  })
  return { status, out, notes, progress, json: () => JSON.parse(out) }
}

/** A directory of a test's own; `remove` deletes it. */
export function ownDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'paidonce-cli-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Makes an embedded database, migrated, in a directory; quickly, from the template of the test run. */
export async function embeddedDatabase(directory: string, mode: 'live' | 'test' = 'test'): Promise<void> {
  const database = await openPglite({ directory, template: readFileSync(inject('pgliteTemplate')) })
  await migrate(database, { mode, now: new Date('2026-01-01T00:00:00Z') })
  await database.close()
}
