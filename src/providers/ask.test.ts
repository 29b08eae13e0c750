import { describe, expect, it } from 'vitest'
import { newAsk } from './ask.ts'

const NOW_MS = 1_760_000_000_000

const askWith = (answer: () => Response) =>
  newAsk(
    () => Promise.resolve(answer()),
    () => NOW_MS,
  )

describe('a request to a provider', () => {
  it('tells of credentials that cannot be sent without quoting them', async () => {
    const ask = newAsk(fetch, () => NOW_MS)
    const asked = ask('https://api.example/v1', {
      hosts: ['api.example'],
      limit_ms: 1_000,
      headers: { authorization: 'Bearer two\nlines' },
    })
    await expect(asked).rejects.toMatchObject({ code: 'config_invalid', retriable: false })
    const error: Error = await asked.catch((thrown) => thrown)
    expect(`${error.message} ${String(error.cause)}`).not.toContain('lines')
    expect(error.message).toContain('authorization')
  })

  it.each([
    'http://api.example/v1',
    'https://api.example.evil.example/v1',
    'https://api.example@evil.example/v1',
    'https://user@api.example/v1',
    'https://api.example:8443/v1',
    'ftp://localhost/v1',
    'http://localhost.evil.example/v1',
    'nothing',
  ])('is not sent to %s', async (url) => {
    let sent = 0
    const ask = askWith(() => {
      sent += 1
      return new Response('')
    })
    await expect(ask(url, { hosts: ['api.example', 'localhost'], limit_ms: 1_000 })).rejects.toMatchObject({
      code: 'config_invalid',
    })
    expect(sent).toBe(0)
  })

  it('is given up when the answer is too large', async () => {
    const ask = askWith(() => new Response('x'.repeat(1_001)))
    const asked = ask('https://api.example/', { hosts: ['api.example'], limit_ms: 1_000, answer_max: 1_000 })
    await expect(asked).rejects.toMatchObject({ code: 'provider_unavailable', retriable: true })
  })

  it.each([
    ['120', 120_000],
    [new Date(NOW_MS + 5_000).toUTCString(), 5_000],
    [new Date(NOW_MS - 5_000).toUTCString(), 0],
    ['soon', undefined],
  ])('reads Retry-After %s', async (value, expected) => {
    const ask = askWith(() => new Response('', { status: 429, headers: { 'retry-after': value } }))
    const answer = await ask('https://api.example/', { hosts: ['api.example'], limit_ms: 1_000 })
    expect(answer.retry_after_ms).toBe(expected)
  })
})
