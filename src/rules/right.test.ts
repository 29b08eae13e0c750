import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EntitlementState } from '../facts/entitlement.ts'
import { foldRight, type RightSource } from './right.ts'

const STATES: readonly EntitlementState[] = ['none', 'granted', 'suspended', 'revoked', 'expired']
const source = (state: EntitlementState, quantity = 1): RightSource => ({ state, quantity })

describe('what a holder has', () => {
  const rows: [string, RightSource[], RightSource][] = [
    ['nobody gives it', [], source('none', 0)],
    ['seq-16 one of two ended', [source('revoked'), source('granted')], source('granted')],
    ['two grant', [source('granted', 3), source('granted', 4)], source('granted', 7)],
    [
      'case-25 the old one expired, 87 of the new',
      [source('expired', 10), source('granted', 87)],
      source('granted', 87),
    ],
    ['case-19 the monthly one refunded', [source('granted'), source('revoked')], source('granted')],
    ['one is suspended', [source('revoked'), source('suspended', 5)], source('suspended', 0)],
    ['all over', [source('expired'), source('revoked'), source('none')], source('revoked', 0)],
    ['run out', [source('none'), source('expired')], source('expired', 0)],
  ]
  for (const [name, sources, right] of rows) {
    it(`${name}: ${right.quantity} ${right.state}`, () => {
      expect(foldRight(sources)).toEqual(right)
    })
  }

  const sources = fc.array(
    fc.record({ state: fc.constantFrom(...STATES), quantity: fc.integer({ min: 1, max: 1_000 }) }),
  )

  it('P33 is the same in any order of the sources', () => {
    const shuffled = sources.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
    )
    fc.assert(
      fc.property(shuffled, ([given, other]) => {
        expect(foldRight(other)).toEqual(foldRight(given))
      }),
    )
  })

  it('P33 is granted exactly while one grants, and no source that is over changes that', () => {
    fc.assert(
      fc.property(sources, (given) => {
        const granting = given.filter(({ state }) => state === 'granted')
        expect(foldRight(given).state === 'granted').toBe(granting.length > 0)
        if (granting.length > 0) expect(foldRight(given)).toEqual(foldRight(granting))
      }),
    )
  })
})
