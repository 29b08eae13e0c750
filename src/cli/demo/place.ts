import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../facts/fault.ts'
import { renewDemoSchema } from '../../store/demo-schema.ts'
import { lockDirectory } from '../../store/directory-lock.ts'
import { openPostgres } from '../../store/postgres.ts'
import { readDemoMarker, writeDemoMarker } from '../demo-marker.ts'

export interface DemoPlace {
  readonly directory: string
  /** URL of the server; null for the embedded database in the directory. */
  readonly database: string | null
  readonly schema: string
  /** Made up for this run. */
  readonly secret: string
}

/**
 * Makes room for a fresh demo: what an earlier one left is deleted, what anybody else left is not touched.
 * Throws Fault `config_invalid`, `directory_in_use`, `database_unavailable`.
 */
export async function makeRoom(
  directory: string,
  database: string | null,
  schema: string,
  now: Date,
): Promise<DemoPlace> {
  const secret = `whsec_${randomBytes(24).toString('base64url')}`
  const marker = readDemoMarker(directory)
  const has_data = existsSync(join(directory, 'data'))
  const others_data = has_data && !marker?.owns_data
  const place = { directory, database, schema, secret }
  const mark = (owns_data: boolean) =>
    writeDemoMarker(directory, { database, schema, secret, started_at: now.toISOString(), owns_data })
  if (database === null) {
    if (others_data) {
      throw new Fault(
        'config_invalid',
        `The database in ${directory} was not made by a demo, so the demo does not touch it. Name another place with --directory.`,
      )
    }
    if (has_data) await emptyDirectory(directory)
    await mark(true)
    return place
  }
  await emptySchema(database, schema)
  // Commands find the demo by this marker, and must go on finding data of the user's own.
  if (!others_data) await mark(has_data)
  return place
}

async function emptyDirectory(directory: string): Promise<void> {
  const unlock = await lockDirectory(directory)
  try {
    await rm(join(directory, 'data'), { recursive: true, force: true })
  } finally {
    await unlock()
  }
}

async function emptySchema(url: string, schema: string): Promise<void> {
  const server = await openPostgres({ url, schema, max: 1 })
  try {
    await renewDemoSchema(server)
  } finally {
    await server.close()
  }
}
