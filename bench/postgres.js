// One real PostgreSQL for the whole run, with its default durability: started here, or given by --database.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

const run = promisify(execFile)

/** @typedef {Awaited<ReturnType<typeof openServer>>} Server */

/** @param {string | undefined} given URL of a database on a server where this user may create databases */
export async function openServer(given) {
  const started = given === undefined ? await startServer() : null
  const admin_url = given ?? started.url
  const admin = new pg.Client({ connectionString: admin_url })
  await admin.connect()
  let databases = 0

  const server = {
    /** Process id of the postmaster, null for a server that was given. */
    pid: started?.pid ?? null,
    version: await setting('server_version'),
    durability: { fsync: await setting('fsync'), synchronous_commit: await setting('synchronous_commit') },
    shared_buffers: await setting('shared_buffers'),
    /** Makes an empty database and gives its URL. */
    async create() {
      const name = `paidonce_bench_${process.pid}_${++databases}`
      await admin.query(`create database ${name}`)
      const url = new URL(admin_url)
      url.pathname = `/${name}`
      return url.href
    },
    async drop(url) {
      await admin.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`)
    },
    /** So that no measurement pays for what the one before it wrote. */
    async settle() {
      if (started !== null) await admin.query('checkpoint')
    },
    /** Pages asked for in this database since it was made. */
    async pages(url) {
      const name = new URL(url).pathname.slice(1)
      const { rows } = await admin.query(
        'select blks_hit + blks_read as pages from pg_stat_database where datname = $1',
        [name],
      )
      return Number(rows[0].pages)
    },
    async close() {
      await admin.end()
      await started?.stop()
    },
  }
  if (server.durability.fsync !== 'on' || server.durability.synchronous_commit !== 'on') {
    await server.close()
    throw new Error(
      'this server has fsync or synchronous_commit off; figures from it would mean nothing: turn both on',
    )
  }
  return server

  async function setting(name) {
    const { rows } = await admin.query('select current_setting($1) as value', [name])
    return rows[0].value
  }
}

async function startServer() {
  const bin = await findBinaries()
  const owner = await serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-postgres-'))
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
  await run(join(bin, 'initdb'), initdb, { ...owner, cwd: folder })
  const port = await freePort()
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder],
    {
      ...owner,
      cwd: folder,
      stdio: 'ignore',
    },
  )
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGINT')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', () => {
    if (child.exitCode === null) child.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await untilReady(url, child)
  return { url, pid: child.pid, stop }
}

/** The PostgreSQL on the PATH, else the newest where Debian and Homebrew put it. */
async function findBinaries() {
  const places = (process.env.PATH ?? '').split(delimiter)
  for (const parent of ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt']) {
    if (!existsSync(parent)) continue
    const versions = readdirSync(parent).filter((name) => /^(postgresql@)?\d+$/.test(name))
    versions.sort((a, b) => Number(b.replace(/\D/g, '')) - Number(a.replace(/\D/g, '')))
    for (const version of versions) places.push(join(parent, version, 'bin'))
  }
  const found = places.find(
    (place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')),
  )
  if (found !== undefined) return found
  throw new Error(
    'no PostgreSQL found: install it (Debian: apt install postgresql; macOS: brew install postgresql), ' +
      'or name a running server with --database postgres://...',
  )
}

/** PostgreSQL refuses to run as root; then it runs as `postgres`, or as `nobody` where there is no such user. */
async function serverUser() {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all(
        ['-u', '-g'].map(async (flag) => (await run('id', [flag, name])).stdout),
      )
      return { uid: Number(uid), gid: Number(gid) }
    } catch {}
  }
  throw new Error(
    'PostgreSQL does not run as root and there is no user postgres or nobody: run the bench as another user',
  )
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

async function untilReady(url, child) {
  for (let tries = 0; tries < 300 && child.exitCode === null; tries++) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      await client.end()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  throw new Error('PostgreSQL did not become ready within 15 s')
}
