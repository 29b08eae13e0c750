import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNewer } from './is-newer.ts'

describe('isNewer', () => {
  it.each([
    [null, { epoch: 1n, revision: 1 }, true],
    [{ epoch: 1n, revision: 1 }, { epoch: 1n, revision: 2 }, true],
    [{ epoch: 1n, revision: 2 }, { epoch: 1n, revision: 2 }, false],
    [{ epoch: 1n, revision: 3 }, { epoch: 1n, revision: 2 }, false],
    [{ epoch: 1n, revision: 9 }, { epoch: 2n, revision: 1 }, true],
    [{ epoch: 2n, revision: 1 }, { epoch: 1n, revision: 9 }, false],
    [{ epoch: '9', revision: '9' }, { epoch: '10', revision: '1' }, true],
    [{ epoch: '1', revision: '9' }, { epoch: '1', revision: 10 }, true],
  ])('knowing %o, told %o: %s', (known, told, expected) => {
    expect(isNewer(known, told)).toBe(expected)
  })

  it('leaves a receiver on the newest, whatever the order and the number of copies', () => {
    const told = fc.record({ epoch: fc.bigInt({ min: 1n, max: 3n }), revision: fc.nat({ max: 9 }) })
    fc.assert(
      fc.property(fc.array(told, { minLength: 1 }), (all) => {
        let known: { epoch: bigint; revision: number } | null = null
        for (const one of [...all, ...all]) if (isNewer(known, one)) known = one
        const newest = all.toSorted((a, b) => Number(a.epoch - b.epoch) || a.revision - b.revision).at(-1)
        expect(known).toEqual(newest)
      }),
    )
  })
})
