import { expect, it, vi } from 'vitest'
import { dodoPayments } from './index.ts'
import { SECRET } from './told.ts'

vi.mock('dodopayments', () => {
  throw new Error('Cannot find package')
})

it('without the official SDK says what to install, and verifies all the same', async () => {
  const access = { apiKey: 'k1', mode: 'test' } as const
  const { lookup, verify } = dodoPayments({ webhookSecrets: SECRET, ...access })
  const context = { now_ms: 0, limit_ms: 1_000, ask: () => Promise.reject(new Error('not asked')) }
  expect(await lookup!.fetch({ object: 'payment', id: 'pay_1' }, null, context)).toEqual({
    outcome: 'refused',
    reason: expect.stringContaining('npm install dodopayments'),
  })
  const wish = { key: 'op-1', payment: 'pay_1', amount_minor: 1n, currency: 'USD', full: true }
  expect(await lookup!.refund!(wish, context)).toMatchObject({ outcome: 'unknown' })
  expect(verify({ method: 'POST', headers: {}, body: Buffer.alloc(0) }, 0).refused).toBe(true)
})
