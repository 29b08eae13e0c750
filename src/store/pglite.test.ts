import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { startChild } from '../../test/child.ts'
import { withPglite } from '../../test/database.ts'
import { openPglite } from './pglite.ts'

const one = { name: 'test-one', text: 'select 1 as one' }

withPglite('an embedded driver', (open) => {
  it('serves all in the order of their coming, one transaction at a time', async () => {
    const db = await open()
    const served: string[] = []
    const first = await db.begin()
    const waiting = ['a', 'b', 'c'].flatMap((name) => [
      db.begin().then(async (transaction) => {
        served.push(`${name} begins`)
        await transaction.query(one)
        await transaction.query(one)
        served.push(`${name} ends`)
        await transaction.commit()
      }),
      db.query(one).then(() => served.push(`query after ${name}`)),
    ])
    await first.query(one)
    served.push('first ends')
    await first.commit()
    await Promise.all(waiting)
    const expected = ['a', 'b', 'c'].flatMap((name) => [
      `${name} begins`,
      `${name} ends`,
      `query after ${name}`,
    ])
    expect(served).toEqual(['first ends', ...expected])
  })

  it('lets timers and sockets run between transactions', async () => {
    const db = await open()
    let ticks = 0
    const timer = setInterval(() => {
      ticks += 1
    }, 1)
    for (let count = 0; count < 50; count++) await (await db.begin()).commit()
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(1)
  })

  it('passes the turn on when a transaction is destroyed or its begin is followed by nothing', async () => {
    const db = await open()
    const transaction = await db.begin()
    const next = db.query(one)
    await transaction.destroy()
    await transaction.destroy()
    await transaction.rollback()
    expect(await next).toEqual([{ one: 1 }])
  })

  it('refuses the timeouts that hang it', async () => {
    const template = readFileSync(inject('pgliteTemplate'))
    const hanging = openPglite({
      memory: true,
      template,
      settings: { idle_in_transaction_session_timeout: '1s' },
    })
    await expect(hanging).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('refuses neither or both places', async () => {
    await expect(openPglite({})).rejects.toMatchObject({ code: 'config_invalid' })
    await expect(openPglite({ memory: true, directory: 'x' })).rejects.toMatchObject({
      code: 'config_invalid',
    })
  })
})

describe('an embedded database in a directory', () => {
  let directory: string
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), 'paidonce-lite-')), 'deep', 'er')
  })
  afterEach(() => {
    rmSync(join(directory, '..', '..'), { recursive: true, force: true })
  })

  it('keeps its data, refuses a second opening, tells its progress and is closed for good', async () => {
    const template = readFileSync(inject('pgliteTemplate'))
    const progress: string[] = []
    const db = await openPglite({ directory, template, onProgress: (message) => progress.push(message) })
    await db.script('create table kept as select 1 as id')
    await expect(openPglite({ directory })).rejects.toMatchObject({ code: 'directory_in_use' })
    const late = db.query({ name: 'test-late', text: 'select id from kept' })
    await db.close()
    await db.close()
    expect(await late).toEqual([{ id: 1 }])
    await expect(db.query(one)).rejects.toMatchObject({ code: 'shutting_down' })
    await expect(db.begin()).rejects.toMatchObject({ code: 'shutting_down' })
    const again = await openPglite({ directory, onProgress: (message) => progress.push(message) })
    expect(await again.query({ name: 'test-kept', text: 'select id from kept' })).toEqual([{ id: 1 }])
    await again.close()
    expect(progress.map((message) => message.split(' ')[0])).toEqual(['Creating', 'Opening', 'Opening'])
  })

  it('is open to nobody but its owner', async () => {
    const db = await openPglite({ directory, template: readFileSync(inject('pgliteTemplate')) })
    await db.close()
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  it('is free again when it could not be opened', async () => {
    const template = readFileSync(inject('pgliteTemplate'))
    const misspelt = openPglite({ directory, template, settings: { no_such_setting: 'x' } })
    await expect(misspelt).rejects.toMatchObject({ code: '42704' })
    const db = await openPglite({ directory })
    expect(await db.query(one)).toEqual([{ one: 1 }])
    await db.close()
  })

  it('begins anew when its first creation was interrupted', async () => {
    mkdirSync(join(directory, 'data.unfinished'), { recursive: true })
    writeFileSync(join(directory, 'data.unfinished', 'PG_VERSION'), '18')
    const db = await openPglite({ directory, template: readFileSync(inject('pgliteTemplate')) })
    expect(await db.query(one)).toEqual([{ one: 1 }])
    await db.close()
    expect(readdirSync(directory).sort()).toEqual(['data', 'owner.1'])
  })

  it('has all that was committed, and nothing by half, after kill -9 of its process', async () => {
    const made = await openPglite({ directory, template: readFileSync(inject('pgliteTemplate')) })
    await made.close()
    const writer = startChild('write-embedded', directory)
    let told = 0
    while (told < 20) told = Number(await writer.line())
    await writer.kill()
    const db = await openPglite({ directory })
    const rows = await db.query<{ id: number }>({
      name: 'test-written',
      text: 'select id from written order by id',
    })
    const ids = rows.map(({ id }) => id)
    expect(ids.length).toBeGreaterThanOrEqual(2 * told)
    expect(ids).toEqual(ids.map((id) => -id).reverse())
    await db.close()
  })
})
