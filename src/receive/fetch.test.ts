import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { endpointOf } from './fetch.ts'

describe('the endpoint of a path', () => {
  it.each([
    ['/webhooks/stripe', 'stripe'],
    ['/webhooks/stripe/', 'stripe'],
    ['/webhooks/stripe///', 'stripe'],
    ['stripe', 'stripe'],
    ['/stripe', 'stripe'],
    ['/webhooks/a%2Fb', 'a/b'],
    ['/webhooks/%', '%'],
    ['/', ''],
    ['///', ''],
    ['', ''],
  ])('of %s is %s', (path, name) => {
    expect(endpointOf(path)).toBe(name)
  })

  it('is the last part that is not empty, whatever the path', () => {
    const path = fc.array(fc.constantFrom('/', 'a', 'b')).map((letters) => letters.join(''))
    fc.assert(
      fc.property(path, (text) => {
        expect(endpointOf(text)).toBe(text.split('/').filter(Boolean).at(-1) ?? '')
      }),
    )
  })

  it('P04 is found as fast in a path of nothing but slashes, so that a stranger cannot keep us busy', () => {
    const path = `${'/'.repeat(1_000_000)}x`
    expect(endpointOf(path)).toBe('x')
  })
})
