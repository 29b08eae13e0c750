import { expect, it } from 'vitest'
import { checkedTerms, type OrderRegistration } from './orders.ts'

const ORDER: OrderRegistration = {
  reference: 'A-1',
  amount_minor: 2_000n,
  currency: 'USD',
  items: [{ item: 'licence', quantity: 1 }],
}
const item = (name: string, quantity = 1) => ({ items: [{ item: name, quantity }] })

it.each<[string, Partial<OrderRegistration>]>([
  ['a reference with NUL', { reference: 'A\u0000' }],
  ['a reference with a line break, which would join it with another lock', { reference: 'A\nB' }],
  ['a reference with half a character, which is stored as another text', { reference: '\ud800' }],
  ['a reference beyond 255 characters', { reference: 'A'.repeat(256) }],
  ['an amount beyond what is stored', { amount_minor: 10n ** 78n }],
  ['an item with NUL', item('licence\u0000')],
  ['an item that no key holds', item('x'.repeat(256))],
  ['more of an item than a right can count', item('licence', 2 ** 31)],
  ['a time without a zone', { expires_at: '2026-01-01T00:00:00' }],
  ['a year that is not stored', { expires_at: '+275760-09-13T00:00:00Z' }],
  ['an account with NUL', { account: 'a\u0000' }],
  ['a holder with a line break', { holder: 'u\n1' }],
  ['a blank holder', { holder: ' ' }],
  ['a grace before its beginning', { recurring: { grace_ms: -1 } }],
  ['items beside a price that says them', { recurring: { by_price: true } }],
  ['no items at all', { items: undefined }],
  ['an item that lasts no time', { items: [{ item: 'pass', quantity: 1, valid_for_ms: 0 }] }],
  ['an end without a zone', { items: [{ item: 'pass', quantity: 1, valid_until: '2026-01-01' }] }],
])('P30 refuses %s when it is registered, not when it is paid', (_, part) => {
  expect(() => checkedTerms({ ...ORDER, ...part })).toThrowError(
    expect.objectContaining({ code: 'order_invalid', retriable: false }),
  )
})

it('takes the longest and largest that can be stored', () => {
  const terms = checkedTerms({
    ...ORDER,
    reference: '\u4e00'.repeat(255),
    amount_minor: 10n ** 78n - 1n,
    ...item('x'.repeat(255), 2 ** 31 - 1),
    expires_at: '9999-12-31T23:59:59+00:00',
  })
  expect(terms).toMatchObject({ amount_minor: 10n ** 78n - 1n, expires_at: '9999-12-31T23:59:59.000Z' })
})
