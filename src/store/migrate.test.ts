import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { embeddedMigrations } from '../../scripts/embed-migrations.js'
import { startChild } from '../../test/child.ts'
import { administer, withDatabase } from '../../test/postgres.ts'
import type { Database } from './database.ts'
import { readInstallation } from './installation.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import type { Migration } from './migration.ts'
import { migrations as released } from './migrations/index.ts'
import { openPglite } from './pglite.ts'
import { openPostgres } from './postgres.ts'

const now = new Date('2026-03-04T05:06:07Z')
const installation = `create table installation (only_row smallint primary key default 1, mode text not null,
  buckets smallint not null, epoch bigint not null, created_at timestamptz not null);`
const first: Migration = { number: 1, name: 'first', sql: installation }
const second: Migration = {
  number: 2,
  name: 'second',
  sql: 'create table second (id int); insert into second values (2);',
}
const failing: Migration = { number: 2, name: 'second', sql: 'create table second (id int); select 1 / 0;' }

const databases: string[] = []

async function createEmpty(): Promise<string> {
  const database = `paidonce_test_${randomUUID().replaceAll('-', '')}`
  databases.push(database)
  await administer(inject('postgresUrl'), `create database ${database}`)
  return withDatabase(inject('postgresUrl'), database)
}

afterAll(async () => {
  for (const database of databases)
    await administer(inject('postgresUrl'), `drop database ${database} with (force)`)
})

const openers: [string, () => Promise<Database>][] = [
  ['PostgreSQL', async () => openPostgres({ url: await createEmpty() })],
  ['PGlite', () => openPglite({ memory: true, template: readFileSync(inject('pgliteTemplate')) })],
]

describe.each(openers)('migrating an empty database on %s', (_, openEmpty) => {
  it('applies each migration once, writes down what it is, and has nothing to do the second time', async () => {
    const db = await openEmpty()
    const titles = released.map(({ number, name }) => `${String(number).padStart(4, '0')}-${name}`)
    const steps: string[] = []
    expect(await pendingMigrations(db)).toEqual(titles)
    expect(await readInstallation(db)).toBeUndefined()
    const done = await migrate(db, { mode: 'live', buckets: 4, now, onProgress: (step) => steps.push(step) })
    const fixed = { mode: 'live', buckets: 4, epoch: 1n }
    expect(done).toEqual({ applied: titles, installation: fixed })
    expect(steps).toEqual(titles.map((title) => `Applying migration ${title}.`))
    expect(await pendingMigrations(db)).toEqual([])
    expect(await migrate(db, { mode: 'live', now })).toEqual({ applied: [], installation: fixed })
    expect(await readInstallation(db, 'live')).toEqual(fixed)
    await db.close()
  })

  it('goes on where it stopped, refuses other modes, other buckets, newer and changed schemas', async () => {
    const db = await openEmpty()
    const start = { mode: 'test', now, migrations: [first] } as const
    expect((await migrate(db, start)).applied).toEqual(['0001-first'])
    // Failing as a whole: what the migration did before its failure is gone too.
    await expect(migrate(db, { ...start, migrations: [first, failing] })).rejects.toMatchObject({
      code: '22012',
    })
    expect(await pendingMigrations(db, [first, second])).toEqual(['0002-second'])
    expect((await migrate(db, { ...start, migrations: [first, second] })).applied).toEqual(['0002-second'])
    await expect(migrate(db, start)).rejects.toMatchObject({ code: 'schema_newer' })
    await expect(pendingMigrations(db, [first])).rejects.toMatchObject({ code: 'schema_newer' })
    const changed = { ...second, sql: `${second.sql} ` }
    await expect(migrate(db, { ...start, migrations: [first, changed] })).rejects.toMatchObject({
      code: 'schema_changed',
    })
    await expect(pendingMigrations(db, [first, changed])).rejects.toMatchObject({ code: 'schema_changed' })
    const both = [first, second]
    const live = migrate(db, {
      mode: 'live',
      now,
      migrations: [...both, { number: 3, name: 'third', sql: 'create table third ()' }],
    })
    await expect(live).rejects.toMatchObject({ code: 'mode_mismatch' })
    expect(await db.query({ name: 'test-third', text: `select to_regclass('third') as found` })).toEqual([
      { found: null },
    ])
    await expect(migrate(db, { ...start, migrations: both, buckets: 2 })).rejects.toMatchObject({
      code: 'config_invalid',
    })
    await db.close()
  })

  it('runs what is asked after a migration in its transaction', async () => {
    const db = await openEmpty()
    const migrations = [first, second]
    const refusing = migrate(db, {
      mode: 'test',
      now,
      migrations,
      afterMigration: async ({ name }, transaction) => {
        await transaction.script(`create table after_${name} (id int)`)
        if (name === 'second') throw new Error('cannot distribute')
      },
    })
    await expect(refusing).rejects.toThrow('cannot distribute')
    const look = {
      name: 'test-after',
      text: `select to_regclass('after_first') is not null as first, to_regclass('second') as second`,
    }
    expect(await db.query(look)).toEqual([{ first: true, second: null }])
    await db.close()
  })
})

describe('two processes that migrate one database at the same moment', () => {
  it('apply each migration once between them', async () => {
    const url = await createEmpty()
    const children = Array.from({ length: 2 }, () => startChild('migrate', url))
    await Promise.all(children.map((child) => child.line()))
    for (const child of children) child.process.stdin!.write('go\n')
    const applied = (await Promise.all(children.map((child) => child.line()))).flatMap((line) =>
      JSON.parse(line),
    )
    expect(applied.sort()).toEqual(
      released.map(({ number, name }) => `${String(number).padStart(4, '0')}-${name}`),
    )
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0])
  })
})

it('puts its tables into another schema where one is named', async () => {
  const db = await openPostgres({ url: await createEmpty(), schema: 'billing' })
  await migrate(db, { mode: 'test', now })
  const schemas = `select distinct schemaname as schema from pg_tables where tablename in ('installation', 'paidonce_migrations')`
  expect(await db.query({ name: 'test-schemas', text: schemas })).toEqual([{ schema: 'billing' }])
  await db.close()
})

it('embeds the SQL files as they are now (else run: node scripts/embed-migrations.js)', () => {
  const embedded = readFileSync(new URL('migrations/index.ts', import.meta.url), 'utf8')
  expect(embedded).toBe(embeddedMigrations())
})
