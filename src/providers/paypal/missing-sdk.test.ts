import { expect, it, vi } from 'vitest'
import { contextAt, endpointOf } from './asked.ts'
import { startFakePaypal } from './fake.ts'

vi.mock('@paypal/paypal-server-sdk', () => {
  throw new Error('Cannot find package')
})

it('says what to install when the official SDK is not there', async () => {
  const fake = await startFakePaypal()
  const capture = fake.pay({ seed: 'a', amount_minor: 100n, currency: 'EUR' })
  const { lookup } = endpointOf(fake)
  expect(await lookup!.fetch({ object: 'capture', id: capture }, null, contextAt(0))).toMatchObject({
    outcome: 'refused',
    reason: expect.stringContaining('npm install @paypal/paypal-server-sdk'),
  })
  const request = { key: 'op-1', payment: capture, amount_minor: 100n, currency: 'EUR', full: true }
  expect(await lookup!.refund!(request, contextAt(0))).toMatchObject({ outcome: 'unknown' })
  await fake.close()
})
