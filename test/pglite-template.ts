import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'

const cache = fileURLToPath(new URL('../node_modules/.cache/paidonce/', import.meta.url))

/**
 * Gives the file of an embedded database's fresh data directory, made once per version of PGlite: creating one takes
 * seconds, loading one takes a fraction.
 */
export async function pgliteTemplate(): Promise<string> {
  const file = join(cache, `pglite-${pgliteVersion()}.tar`)
  if (existsSync(file)) return file
  const pglite = await PGlite.create('memory://')
  const dump = Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer())
  await pglite.close()
  mkdirSync(cache, { recursive: true })
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, dump)
  renameSync(draft, file)
  return file
}

function pgliteVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const manifest = readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
