import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import type { Parameter, Queryable } from './database.ts'

const one = { name: 'test-one', text: 'select 1 as one' }
const failing = { name: 'test-failing', text: 'select 1 / $1::int as never' }

function echo(type: string) {
  return { name: `test-echo-${type}`, text: `select $1::${type} as value` }
}

async function roundTrip(queryable: Queryable, type: string, value: Parameter): Promise<unknown> {
  const [row] = await queryable.query<{ value: unknown }>(echo(type), [value])
  return row!.value
}

const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'))
const int8 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const bytes = fc.uint8Array({ maxLength: 60 }).map((value) => Buffer.from(value))
const time = fc.date({
  min: new Date('0001-01-01'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
})

withDatabases('a database', (open) => {
  describe('values', () => {
    const kinds: [string, fc.Arbitrary<Parameter>][] = [
      ['text', text],
      ['bigint', int8],
      ['integer', fc.integer()],
      ['boolean', fc.boolean()],
      ['float8', fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)],
      ['bytea', bytes],
      ['timestamptz', time],
      ['numeric', fc.bigInt({ min: -(10n ** 77n), max: 10n ** 77n }).map(String)],
    ]

    it.each(kinds)('come back as they went, alone and in arrays: %s', async (type, arbitrary) => {
      const db = await open()
      await fc.assert(
        fc.asyncProperty(fc.array(fc.option(arbitrary), { maxLength: 8 }), async (values) => {
          const list = values as Exclude<Parameter, readonly unknown[]>[]
          expect(await roundTrip(db, `${type}[]`, list)).toEqual(list)
          for (const value of list.slice(0, 2)) expect(await roundTrip(db, type, value)).toEqual(value)
        }),
        { numRuns: 40 },
      )
    })

    it('reads each type in the one form that the contract names', async () => {
      const db = await open()
      const [row] = await db.query({
        name: 'test-types',
        text: `select 9007199254740993::int8 as int8, 1.50::numeric as numeric, '{1.50,null}'::numeric[] as numerics,
          '{"a":[1,"x"]}'::jsonb as jsonb, '{"a":1}'::json as json, 7::int2 as int2, 0.5::float8 as float8,
          '2026-01-02 03:04:05.678+05:30'::timestamptz as time, '\\x00ff'::bytea as bytea, null::text as nothing,
          'ab'::varchar as word, '{}'::text[] as none, '00000000-0000-0000-0000-000000000001'::uuid as uuid`,
      })
      expect(row).toEqual({
        int8: 9007199254740993n,
        numeric: '1.50',
        numerics: ['1.50', null],
        jsonb: { a: [1, 'x'] },
        json: { a: 1 },
        int2: 7,
        float8: 0.5,
        time: new Date('2026-01-01T21:34:05.678Z'),
        bytea: Buffer.from([0, 255]),
        nothing: null,
        word: 'ab',
        none: [],
        uuid: '00000000-0000-0000-0000-000000000001',
      })
      expect(Buffer.isBuffer(row!.bytea)).toBe(true)
    })

    it('keeps an array of NULL words, quotes, backslashes and commas apart', async () => {
      const db = await open()
      const words = ['NULL', 'null', '', '"', '\\', '\\"', '{a,b}', ' x ', 'line\nbreak', null]
      expect(await roundTrip(db, 'text[]', words)).toEqual(words)
    })

    it('carries bytes larger than a network packet, in an array too', async () => {
      const db = await open()
      const body = Buffer.alloc(700_000, 'äx')
      const sent = [body, null, Buffer.alloc(0)]
      const [same, nothing, empty] = (await roundTrip(db, 'bytea[]', sent)) as Buffer[]
      expect([same!.equals(body), nothing, empty!.length]).toEqual([true, null, 0])
    })

    it('reads times of any year and of a session in another zone', async () => {
      const db = await open()
      for (const iso of [
        '-000001-03-04T05:06:07.008Z',
        '+012345-01-01T00:00:00.000Z',
        '1850-06-01T00:00:00.000Z',
      ]) {
        expect(await roundTrip(db, 'timestamptz', new Date(iso))).toEqual(new Date(iso))
      }
      const transaction = await db.begin()
      await transaction.script(`set local timezone to 'Europe/Amsterdam'`)
      expect(await roundTrip(transaction, 'timestamptz', '1900-01-01T00:00:00Z')).toEqual(
        new Date('1900-01-01T00:00:00Z'),
      )
      await transaction.rollback()
    })
  })

  describe('a transaction', () => {
    it('runs statements in the order in which they were started, without awaiting between them', async () => {
      const db = await open()
      const transaction = await db.begin()
      await transaction.script(
        'create temporary table steps (id bigint generated always as identity, step int) on commit drop',
      )
      const add = { name: 'test-add-step', text: 'insert into steps (step) values ($1) returning step' }
      const started = Array.from({ length: 20 }, (_, step) => transaction.query(add, [step]))
      const read = transaction.query({ name: 'test-steps', text: 'select step from steps order by id' })
      expect((await Promise.all(started)).flat()).toEqual(Array.from({ length: 20 }, (_, step) => ({ step })))
      expect(await read).toHaveLength(20)
      await transaction.commit()
    })

    it('is READ COMMITTED', async () => {
      const db = await open()
      const transaction = await db.begin()
      const level = { name: 'test-level', text: `select current_setting('transaction_isolation') as level` }
      expect(await transaction.query(level)).toEqual([{ level: 'read committed' }])
      await transaction.rollback()
    })

    it('makes a commit after a failed statement a fault, not a success', async () => {
      const db = await open()
      const transaction = await db.begin()
      await expect(transaction.query(failing, [0])).rejects.toMatchObject({ code: '22012' })
      await expect(transaction.query(one)).rejects.toMatchObject({ code: '25P02' })
      await expect(transaction.commit()).rejects.toMatchObject({ code: 'commit_failed', retriable: true })
      expect(await db.query(one)).toEqual([{ one: 1 }])
    })

    it('does not commit when a parameter could not be sent', async () => {
      const db = await open()
      const transaction = await db.begin()
      await transaction.script(`create table left_behind (id int)`)
      await expect(transaction.query(echo('timestamptz'), [new Date(Number.NaN)])).rejects.toThrow(
        'invalid Date',
      )
      await expect(transaction.commit()).rejects.toMatchObject({ code: 'commit_failed' })
      expect(
        await db.query({ name: 'test-left', text: `select to_regclass('left_behind') as found` }),
      ).toEqual([{ found: null }])
    })

    it.each(['commit', 'rollback', 'destroy'] as const)('runs nothing any more after %s', async (end) => {
      const db = await open()
      const transaction = await db.begin()
      expect(transaction.finished).toBe(false)
      await transaction[end]()
      expect(transaction.finished).toBe(true)
      await expect(transaction.query(one)).rejects.toThrow('finished')
      await expect(transaction.script('select 1')).rejects.toThrow('finished')
      await expect(transaction.commit()).rejects.toThrow('finished')
      await transaction.rollback()
      expect(await db.query(one)).toEqual([{ one: 1 }])
    })

    it('leaves nothing behind when it is destroyed with statements under way', async () => {
      const db = await open()
      await db.script('create table if not exists destroyed (id int); truncate destroyed')
      const transaction = await db.begin()
      const insert = transaction.query({
        name: 'test-insert-destroyed',
        text: 'insert into destroyed values (1)',
      })
      const outcome = insert.catch(() => undefined)
      await transaction.destroy()
      await outcome
      expect(await db.query({ name: 'test-count-destroyed', text: 'select id from destroyed' })).toEqual([])
      await db.script('drop table destroyed')
    })

    it('knows a failed statement again afterwards', async () => {
      const db = await open()
      const misspelt = { name: 'test-misspelt', text: 'select nothing_of_the_kind' }
      await expect(db.query(misspelt)).rejects.toMatchObject({ code: '42703' })
      await expect(db.query(misspelt)).rejects.toMatchObject({ code: '42703' })
      await expect(db.query(failing, [0])).rejects.toMatchObject({ code: '22012' })
      await expect(db.query(failing, [1])).resolves.toHaveLength(1)
    })
  })

  it('refuses two texts under one name', async () => {
    const db = await open({ max: 1 })
    const transaction = await db.begin()
    await transaction.query({ name: 'test-twice', text: 'select 1' })
    await expect(transaction.query({ name: 'test-twice', text: 'select 2' })).rejects.toThrow('test-twice')
    await transaction.rollback()
  })

  it('finds our tables first and tells the path that the user had', async () => {
    const db = await open()
    const [row] = await db.query<{ path: string }>({
      name: 'test-path',
      text: `select current_setting('search_path') as path`,
    })
    expect(row!.path).toBe(`${db.schema}, ${db.user_search_path}`)
    expect(db.user_search_path).toBe('"$user", public')
  })

  it('hears notifications until it stops listening', async () => {
    const db = await open()
    const notify = { name: 'test-notify', text: `select pg_notify('test "channel"', $1)` }
    let hear: (payload: string) => void = () => undefined
    const first = new Promise<string>((resolve) => {
      hear = resolve
    })
    const heard: string[] = []
    const stop = await db.listen('test "channel"', (payload) => {
      heard.push(payload)
      hear(payload)
    })
    await db.query(notify, ['one'])
    expect(await first).toBe('one')
    await stop()
    await db.query(notify, ['two'])
    expect(heard).toEqual(['one'])
  })
})
