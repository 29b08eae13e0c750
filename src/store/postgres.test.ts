import { type AddressInfo, connect, createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withPostgres } from '../../test/database.ts'
import { administer, type PostgresServer, startPostgres } from '../../test/postgres.ts'
import type { Queryable } from './database.ts'
import { openPostgres } from './postgres.ts'

const one = { name: 'test-one', text: 'select 1 as one' }
const backend = { name: 'test-backend', text: 'select pg_backend_pid() as pid' }
const sleep = { name: 'test-sleep', text: 'select pg_sleep($1)' }

async function pidOf(queryable: Queryable): Promise<number> {
  const [row] = await queryable.query<{ pid: number }>(backend)
  return row!.pid
}

const lost = { code: 'database_unavailable', retriable: true }

withPostgres('a PostgreSQL driver', (open, url) => {
  describe('when the server ends a connection', () => {
    it('rejects the transaction on it with a retriable fault, and the next one works', async () => {
      const db = await open()
      const transaction = await db.begin()
      const pid = await pidOf(transaction)
      const running = transaction.query(sleep, [30])
      const outcome = running.catch((error: unknown) => error)
      await administer(url(), `select pg_terminate_backend(${pid})`)
      expect(await outcome).toMatchObject(lost)
      await expect(transaction.query(one)).rejects.toMatchObject(lost)
      await expect(transaction.commit()).rejects.toMatchObject(lost)
      expect(await db.query(one)).toEqual([{ one: 1 }])
    })

    it('does not end the process when the connection was idle', async () => {
      const db = await open({ apart: true, max: 1 })
      const pid = await pidOf(db)
      await administer(url(), `select pg_terminate_backend(${pid})`)
      expect(await eventually(() => db.query(one))).toEqual([{ one: 1 }])
      expect(await pidOf(db)).not.toBe(pid)
    })

    it('hears notifications again on a new connection', async () => {
      const db = await open({ apart: true, name: 'test-listener' })
      const heard: string[] = []
      let wake: () => void = () => undefined
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      const stop = await db.listen('test_again', (payload) => {
        heard.push(payload)
        wake()
      })
      const listening = `from pg_stat_activity where application_name = 'test-listener' and query ilike 'listen%'`
      const [before] = await administer(url(), `select pg_terminate_backend(pid), pid ${listening}`)
      await eventually(async () => {
        const [after] = await administer(url(), `select pid ${listening} and state = 'idle'`)
        if (after === undefined || after.pid === before!.pid) throw new Error('not listening again yet')
      })
      await administer(url(), `notify test_again, 'here'`)
      await woken
      expect(heard).toEqual(['here'])
      await stop()
    })
  })

  it('frees the locks of a destroyed transaction, although its statement was under way', async () => {
    const db = await open()
    await db.script('create table if not exists test_locked (id int)')
    const transaction = await db.begin()
    await transaction.script('lock table test_locked')
    const running = transaction.query(sleep, [60]).catch((error: unknown) => error)
    await transaction.destroy()
    expect(await running).toMatchObject(lost)
    const next = await db.begin({ lock_timeout_ms: 10_000 })
    await next.script('lock table test_locked')
    await next.rollback()
  })

  it('stops waiting for a lock after the time that begin was given', async () => {
    const db = await open()
    await db.script('create table if not exists test_locked (id int)')
    const holder = await db.begin()
    await holder.script('lock table test_locked')
    const waiter = await db.begin({ lock_timeout_ms: 20 })
    await expect(waiter.script('lock table test_locked')).rejects.toMatchObject({ code: '55P03' })
    await waiter.rollback()
    await holder.rollback()
    await expect(db.begin({ lock_timeout_ms: 0.5 })).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('says that it is busy when no connection becomes free', async () => {
    const db = await openPostgres({ url: url(), max: 1, connect_timeout_ms: 50 })
    const transaction = await db.begin()
    await expect(db.begin()).rejects.toMatchObject({ code: 'database_busy', retriable: true })
    await expect(db.query(one)).rejects.toMatchObject({ code: 'database_busy', retriable: true })
    await transaction.rollback()
    expect(await db.query(one)).toEqual([{ one: 1 }])
    await db.close()
  })

  it('sends its session settings, also beside options in the URL', async () => {
    const db = await openPostgres({
      url: `${url()}?options=-c%20work_mem%3D7MB&application_name=theirs`,
      settings: { plan_cache_mode: 'force_custom_plan', search_path: 'a, "b c"' },
    })
    const settings = {
      name: 'test-settings',
      text: `select name, setting from pg_settings
        where name in ('work_mem', 'plan_cache_mode', 'application_name', 'search_path') order by name`,
    }
    expect(await db.query(settings)).toEqual([
      { name: 'application_name', setting: 'theirs' },
      { name: 'plan_cache_mode', setting: 'force_custom_plan' },
      { name: 'search_path', setting: 'a, "b c"' },
      { name: 'work_mem', setting: '7168' },
    ])
    await db.close()
  })

  it('shares one round trip between begin, its lock timeout and the statements started with it', async () => {
    const wire = await recordWire(url())
    const db = await openPostgres({ url: wire.url, max: 1 })
    await db.query(one)
    wire.turns.length = 0
    const transaction = await db.begin({ lock_timeout_ms: 100 })
    await Promise.all(
      [1, 2, 3].map((n) => transaction.query({ name: `test-burst-${n}`, text: `select ${n}` })),
    )
    expect(wire.turns).toEqual(['asked', 'answered'])
    await transaction.commit()
    expect(wire.turns).toEqual(['asked', 'answered', 'asked', 'answered'])
    await db.close()
    await wire.close()
  })

  describe("on the user's own pool", () => {
    it('works with and without pipelining and leaves each session as it was', async () => {
      for (const pipeline of [false, true]) {
        const pool = new pg.Pool({ connectionString: url(), max: 1, pipeline })
        const db = await openPostgres({ pool, settings: { plan_cache_mode: 'force_custom_plan' } })
        const now = {
          name: 'test-now',
          text: `select current_setting('search_path') as path, current_setting('plan_cache_mode') as plans, 1::int8 as n`,
        }
        const ours = { path: 'paidonce, "$user", public', plans: 'force_custom_plan', n: 1n }
        expect(await db.query(now)).toEqual([ours])
        const transaction = await db.begin({ lock_timeout_ms: 77 })
        const answers = await Promise.all([1, 2, 3].map(() => transaction.query(now)))
        expect(answers.flat()).toEqual([ours, ours, ours])
        await transaction.commit()
        await expect(db.script('select 1; select 1/0')).rejects.toMatchObject({ code: '22012' })
        const { rows } = await pool.query(`select current_setting('search_path') as path, 1::int8 as n,
          current_setting('plan_cache_mode') as plans, current_setting('lock_timeout') as lock_timeout`)
        expect(rows).toEqual([{ path: '"$user", public', plans: 'auto', n: '1', lock_timeout: '0' }])
        await db.close()
        expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
        await pool.end()
      }
    })

    it('keeps the connection after a statement that failed', async () => {
      const pool = new pg.Pool({ connectionString: url(), max: 1 })
      const db = await openPostgres({ pool })
      const failing = await db.begin()
      await expect(failing.query({ name: 'test-bad', text: 'select nothing' })).rejects.toMatchObject({
        code: '42703',
      })
      await expect(failing.commit()).rejects.toMatchObject({ code: 'commit_failed' })
      expect(pool.totalCount).toBe(1)
      await pool.end()
    })
  })

  it('refuses settings that make no sense before it connects', async () => {
    await expect(openPostgres({})).rejects.toMatchObject({ code: 'config_invalid' })
    await expect(openPostgres({ url: url(), pool: new pg.Pool() })).rejects.toMatchObject({
      code: 'config_invalid',
    })
    await expect(openPostgres({ url: url(), schema: 'Bad; drop' })).rejects.toMatchObject({
      code: 'config_invalid',
    })
  })

  it('refuses a server that is too old', async () => {
    const old = new pg.Pool({ connectionString: url() })
    old.query = (async () => ({ rows: [{ version: 130_011, search_path: 'public' }] })) as never
    await expect(openPostgres({ pool: old })).rejects.toThrow('PostgreSQL 14 or later is needed')
    await old.end()
  })

  it('tells a refused login from a server that is away', async () => {
    const missing = openPostgres({ url: url().replace(/paidonce_test_\w+/, 'no_such_database') })
    await expect(missing).rejects.toMatchObject({ code: 'database_unavailable', retriable: false })
    const away = openPostgres({ url: 'postgres://postgres@127.0.0.1:9/x' })
    await expect(away).rejects.toMatchObject({ code: 'database_unavailable', retriable: true })
  })
})

describe('a PostgreSQL server that crashes', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ settings: { autovacuum: 'off' } })
  })
  afterAll(() => server.remove())

  it('keeps what was committed, loses what was not, and the pool recovers by itself', async () => {
    const db = await openPostgres({ url: server.url() })
    await db.script('create table kept (id int)')
    const insert = { name: 'test-insert', text: 'insert into kept values ($1)' }
    const committed = await db.begin()
    await committed.query(insert, [1])
    await committed.commit()
    const open = await db.begin()
    await open.query(insert, [2])
    await server.stop('immediate')
    await expect(open.commit()).rejects.toMatchObject(lost)
    await expect(db.begin()).rejects.toMatchObject(lost)
    await server.start()
    expect(await db.query({ name: 'test-kept', text: 'select id from kept' })).toEqual([{ id: 1 }])
    await db.close()
  })
})

/** A relay before the server that notes each change of direction, so that round trips can be counted. */
async function recordWire(target: string) {
  const { hostname, port, pathname } = new URL(target)
  const turns: ('asked' | 'answered')[] = []
  const note = (turn: 'asked' | 'answered') => turns.at(-1) !== turn && turns.push(turn)
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname)
    client.on('data', () => note('asked')).pipe(server)
    server.on('data', () => note('answered')).pipe(client)
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  const { port: open } = relay.address() as AddressInfo
  return {
    url: `postgres://postgres@127.0.0.1:${open}${pathname}`,
    turns,
    close: () => new Promise((resolve) => relay.close(resolve)),
  }
}

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 0; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (count === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
