import { expect, it } from 'vitest'
import { measureVerification } from './sections/verification.js'

it('times ours and the other side of every provider that signs, after both have refused a forgery', async () => {
  const found = await measureVerification(() => {}, { rounds: 1, stretch_ms: 1 })
  expect(Object.keys(found).sort()).toEqual(
    [
      'circle',
      'circle-mint',
      'dodo-payments',
      'esewa',
      'github',
      'hmac',
      'paddle',
      'paypal',
      'standard-webhooks',
      'stripe',
      'yolfi',
    ].sort(),
  )
  for (const { ours_us, sdk_us, ratio } of Object.values(found)) {
    expect(Math.min(ours_us, sdk_us, ratio)).toBeGreaterThan(0)
  }
}, 30_000)
