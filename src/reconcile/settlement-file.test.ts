import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { ComparedItem } from './compared-item.ts'
import { openSettlementFile, readColumns, type SettlementMap } from './settlement-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'settlement-'))
afterAll(() => rmSync(folder, { recursive: true }))

const MAP: SettlementMap = {
  columns: readColumns('id=Charge ID,amount=Gross,currency=Currency,kind=Type,fee=Fee,payment=Payment'),
  kinds: { charge: 'payments', refund: 'refunds' },
}

async function read(text: string | Buffer, map: SettlementMap = MAP) {
  const path = join(folder, 'file.csv')
  writeFileSync(path, text)
  const file = await openSettlementFile(path, map)
  const items: ComparedItem[] = []
  let left_out = 0
  for await (const page of file.pages()) {
    items.push(...page.items)
    left_out += page.left_out
  }
  return { items, left_out, digest: file.digest }
}

const HEAD = 'Charge ID,Type,Payment,Gross,Fee,Currency\n'

describe('a settlement file', () => {
  it('is read by its declared columns, each line known by the digest of the file and its number', async () => {
    const { items, left_out, digest } = await read(
      `\uFEFF${HEAD}c_1,charge,,19.99,0.58,usd\nr_1,refund,c_1,-5.00,,USD\np_1,payout,,14.41,,USD\n`,
    )
    expect(left_out).toBe(1)
    expect(items).toMatchObject([
      {
        kind: 'payments',
        id: 'c_1',
        payment: 'c_1',
        place: `file ${digest.slice(0, 12)} line 2`,
        side: { amount_minor: 1_999n, fee_minor: 58n, currency: 'USD', status: null },
      },
      { kind: 'refunds', id: 'r_1', payment: 'c_1', side: { amount_minor: 500n } },
    ])
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
  })

  it('takes no amount that it cannot read exactly, and tells lines without an id apart', async () => {
    const { items } = await read(`${HEAD},charge,,"1,999.00",,USD\n,charge,,1.005,,USD\n`)
    expect(items.map(({ side }) => side.amount_minor)).toEqual([null, null])
    expect(new Set(items.map(({ id }) => id)).size).toBe(2)
  })

  it('reads minor units, other separators and a currency for all', async () => {
    const map = { columns: readColumns('id=id,amount=n'), currency: 'JPY', minor: true, delimiter: ';' }
    expect((await read('id;n\na;500\n', map)).items[0]?.side).toMatchObject({
      amount_minor: 500n,
      currency: 'JPY',
    })
  })

  it.each([
    ['a column that is not there', 'a,b\n1,2\n', MAP],
    ['a line with too many cells', `${HEAD}c_1,charge,,1.00,,USD,more\n`, MAP],
    ['a quote that never ends', `${HEAD}"c_1,charge,,1.00,,USD\n`, MAP],
    ['no word of the currency', 'id,n\na,1\n', { columns: readColumns('id=id,amount=n') }],
    ['no column for the amount', 'id\na\n', { columns: readColumns('id=id'), currency: 'USD' }],
  ])('is refused with %s', async (_name, text, map) => {
    await expect(read(text, map)).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('refuses a map that names no field, and a file that is not there', async () => {
    expect(() => readColumns('id=x,price=y')).toThrow(/--map takes pairs/)
    await expect(openSettlementFile(join(folder, 'none'), MAP)).rejects.toMatchObject({
      code: 'config_invalid',
    })
  })

  it('is read in pages, however long it is', async () => {
    const lines = Array.from({ length: 1_234 }, (_, n) => `c_${n},charge,,1.00,,USD\n`)
    expect((await read(HEAD + lines.join(''))).items).toHaveLength(1_234)
  })
})
