import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface Change {
  readonly file: string
  readonly find: string
  readonly replace: string
}

interface Mutation extends Change {
  readonly id: string
  readonly bug: string
  readonly also?: readonly Change[]
  readonly test: string
}

const LIST = new URL('./mutations/list.js', import.meta.url)
const { MUTATIONS } = (await import(LIST.href)) as { readonly MUTATIONS: readonly Mutation[] }

const CASES =
  '01 02 03 04 05 08 10 11 12 13 15 17 19 21 22 23 25 26 27 28 30 32 33 34 36 37 38 40 43 44 45 47 49 51 53 55 56 57'
const SEQUENCES = '03 04 05 06 07 08 13 14 15 16 17 19 20 24 25 27 28 29 30 31 32 33'
const ids = [
  ...CASES.split(' ').map((number) => `case-${number}`),
  ...SEQUENCES.split(' ').map((number) => `seq-${number}`),
]
const root = new URL('..', import.meta.url)

describe('the list of known bugs', () => {
  it('holds at least one for every case and every sequence, noticed by a test file that names it', () => {
    const noticed = new Set(
      MUTATIONS.filter(({ id, test }) => readFileSync(new URL(test, root), 'utf8').includes(id)).map(
        ({ id }) => id,
      ),
    )
    expect(ids.filter((id) => !noticed.has(id))).toEqual([])
  })

  it('changes text that stands there exactly once, so that each bug can still be put back', () => {
    const lost: string[] = []
    for (const mutation of MUTATIONS) {
      const texts = new Map<string, string>()
      for (const { file, find, replace } of [mutation, ...(mutation.also ?? [])]) {
        const text = texts.get(file) ?? readFileSync(new URL(file, root), 'utf8')
        const places = text.split(find).length - 1
        if (places !== 1) lost.push(`${mutation.id} ${mutation.bug}: ${places} times in ${file}`)
        texts.set(
          file,
          text.replace(find, () => replace),
        )
      }
      if (!existsSync(new URL(mutation.test, root))) lost.push(`${mutation.bug}: no ${mutation.test}`)
    }
    expect(lost).toEqual([])
  })
})
