import { createVerify } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { describe, expect, it } from 'vitest'
import { startFakeCircle } from './fake.ts'
import { readPublicKey } from './notification-key.ts'
import { signCircle } from './sample.ts'
import { SAMPLE_KEY } from './sample-key.ts'
import { answerOf, callSdk, loadSdk, operationAnswerOf } from './sdk.ts'

describe('an optional SDK', () => {
  it('that is not installed is a matter of set-up, told with the words that mend it', async () => {
    const load = () => loadSdk('@circle-fin/nowhere', () => Promise.reject(new Error('ERR_MODULE_NOT_FOUND')))
    const called = await callSdk(1_000, load, async () => 'never')
    if (!('failure' in called)) throw new Error('it was loaded')
    expect(answerOf(called.failure)).toEqual({
      outcome: 'refused',
      reason: expect.stringContaining('npm install @circle-fin/nowhere'),
    })
    expect(operationAnswerOf(called.failure)).toMatchObject({ outcome: 'unknown' })
  })

  it.each([
    [{ status: 500 }, 'unavailable', 'unknown'],
    [{ status: 409 }, 'unavailable', 'unknown'],
    [{ response: { status: 429, headers: { 'retry-after': '7' } } }, 'unavailable', 'unknown'],
    [{ status: 403 }, 'refused', 'unknown'],
    [{ status: 404 }, 'not_found', 'declined'],
    [{ response: { status: 422 } }, 'unreadable', 'declined'],
    [{ code: 'ECONNRESET' }, 'unavailable', 'unknown'],
    ['odd', 'unavailable', 'unknown'],
  ] as const)('that throws %j: a look-up is %s, an operation %s', async (error, looked, done) => {
    const called = await callSdk(
      1_000,
      async () => null,
      () => Promise.reject(error),
    )
    if (!('failure' in called)) throw new Error('it did not fail')
    expect([answerOf(called.failure).outcome, operationAnswerOf(called.failure).outcome]).toEqual([
      looked,
      done,
    ])
  })

  it('P02 gets the key with which our samples verify', async () => {
    const fake = await startFakeCircle(() => 1_760_000_000_000)
    const setup = { apiKey: 'TEST_API_KEY:a1:b2', entitySecret: 'ab'.repeat(32), baseUrl: fake.url }
    const answer = await initiateDeveloperControlledWalletsClient(setup).getNotificationSignature(
      SAMPLE_KEY.id,
    )
    await fake.close()
    const key = readPublicKey(answer.data?.publicKey ?? '')
    const signature = signCircle('{"a":1}')['x-circle-signature'] ?? ''
    expect(createVerify('sha256').update('{"a":1}').verify(key, signature, 'base64')).toBe(true)
  })
})
