import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBinaries, type PostgresBinaries } from './postgres-binaries.ts'

export interface PostgresServerOptions {
  /** Whether a commit waits for the disk. Default true; false is for tests that never pull the plug. */
  readonly fsync?: boolean
  /** Server settings, as `{ max_connections: '50' }`. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface PostgresServer {
  /** The connection URL of one of its databases; without a name, of the one that is always there. */
  url(database?: string): string
  /** `fast` rolls back and writes everything down; `immediate` is as if the server had crashed. */
  stop(how: 'fast' | 'immediate'): Promise<void>
  /** Starts it again after `stop`, on the same port and data. */
  start(): Promise<void>
  /** Stops it if it runs and deletes its data. */
  remove(): Promise<void>
}

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

/**
 * Starts a PostgreSQL of our own on a free port of 127.0.0.1, with its data in a temporary folder. It ends and its data
 * goes when `remove` is called, and also when this process dies.
 */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const place = mkdtempSync(join(tmpdir(), 'paidonce-pg-'))
  try {
    const server = new TemporaryServer(place, await freePort(), options)
    await server.start()
    return server
  } catch (error) {
    rmSync(place, { recursive: true, force: true })
    throw error
  }
}

class TemporaryServer implements PostgresServer {
  readonly #place: string
  readonly #data: string
  readonly #port: number
  readonly #settings: Record<string, string>
  readonly #binaries: PostgresBinaries
  readonly #user = serverUser()
  readonly #keeper: ChildProcess
  #process: ChildProcess | undefined

  constructor(place: string, port: number, options: PostgresServerOptions) {
    this.#place = place
    this.#data = join(place, 'data')
    this.#port = port
    this.#settings = { ...(options.fsync === false ? careless : {}), ...options.settings }
    this.#keeper = startKeeper(place, this.#data)
    this.#binaries = findBinaries(place)
    chmodSync(place, 0o755)
    mkdirSync(this.#data, { mode: 0o700 })
    if (this.#user !== undefined) chownSync(this.#data, this.#user.uid, this.#user.gid)
    const initdb = [
      '-D',
      this.#data,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-locale',
      '--no-sync',
    ]
    execFileSync(join(this.#binaries.bin, 'initdb'), initdb, { ...this.#spawning(), stdio: 'pipe' })
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${database}`
  }

  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error('This PostgreSQL runs already.')
    const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...this.#settings }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const started = spawn(
      join(this.#binaries.bin, 'postgres'),
      ['-D', this.#data, '-p', String(this.#port), ...flags],
      { ...this.#spawning(), stdio: ['ignore', 'ignore', 'pipe'] },
    )
    this.#process = started
    started.once('exit', () => {
      this.#process = undefined
    })
    await untilReady(started)
    // The child and its pipe may not keep a finished test run alive; the keeper ends it.
    started.unref()
    ;(started.stderr as unknown as { unref(): void }).unref()
  }

  async stop(how: 'fast' | 'immediate'): Promise<void> {
    const running = this.#process
    if (running === undefined) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.ref()
    running.kill(signals[how])
    await ended
  }

  async remove(): Promise<void> {
    await this.stop('immediate')
    this.#keeper.kill()
    rmSync(this.#place, { recursive: true, force: true })
  }

  #spawning() {
    const library = this.#binaries.lib === undefined ? {} : { LD_LIBRARY_PATH: this.#binaries.lib }
    return {
      ...this.#user,
      cwd: this.#place,
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC', ...library },
    }
  }
}

const careless = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '150' }

/** PostgreSQL refuses to run as root, so as root it runs as `postgres` if there is one, else as `nobody`. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (user === undefined)
    throw new Error('As root, a user postgres or nobody is needed to run PostgreSQL as.')
  return { uid: Number(user[2]), gid: Number(user[3]) }
}

/** Waits on a pipe that closes when this process dies, however it dies; then ends the server and deletes its data. */
function startKeeper(place: string, data: string): ChildProcess {
  const script = `read -r _
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
      kill -QUIT "$(head -n 1 "$2/postmaster.pid")"
      sleep 0.5
      rm -rf "$1" && exit
    done`
  const keeper = spawn('sh', ['-c', script, 'sh', place, data], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  keeper.unref()
  ;(keeper.stdin as unknown as { unref(): void }).unref()
  return keeper
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    server.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (log !== 'ready') log += text
      if (!log.includes('ready to accept connections')) return
      log = 'ready'
      resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
