import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a demo leaves in its directory, so that commands find its data and a later demo may replace them. */
export interface DemoMarker {
  /** Where it wrote; null for the embedded database beside this file. */
  readonly database: string | null
  readonly schema: string
  /** Made up at its start; signs nothing but its own traffic. */
  readonly secret: string
  readonly started_at: string
  /** The embedded data beside this file are a demo's, so that a later one may replace them. */
  readonly owns_data: boolean
}

const NAME = 'demo.json'

export function readDemoMarker(directory: string): DemoMarker | null {
  const file = join(directory, NAME)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DemoMarker) : null
}

/** Only its owner may read it: a URL may hold a password. */
export async function writeDemoMarker(directory: string, marker: DemoMarker): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(join(directory, NAME), `${JSON.stringify(marker, null, 2)}\n`, { mode: 0o600 })
}
