import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DIGEST_TOPIC } from './alerts-text.ts'
import { giveUp, retryAfter } from './outcome.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'
import { slack } from './slack.ts'

const context = { signal: new AbortController().signal }

function alertAbout(payload: Record<string, unknown>, topic = 'exception.opened'): OutgoingEffect {
  return {
    key: 'effect_1_5',
    id: 5n,
    tenant: 'default',
    topic,
    lane: 'alerts',
    item: '-',
    subject: { kind: 'order', key: 'A-1' },
    order: 'A-1',
    cause: 'order:A-1/underpayment/-/1',
    revision: 0,
    epoch: 1n,
    attempt: 1,
    created_at: new Date('2026-01-02T00:00:00Z'),
    payload,
  }
}

const OWING = {
  exception: '12',
  kind: 'underpayment',
  severity: 'warning',
  subject_kind: 'order',
  subject: 'A-1',
  message: 'Order A-1 asks for $20.00 and has $19.99.',
}

describe('slack', () => {
  let server: Server
  let url: string
  let posted: { readonly headers: IncomingMessage['headers']; readonly json: { text: string } }[] = []
  let answer: { status: number; headers?: Record<string, string>; body?: string }

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      posted.push({ headers: request.headers, json: JSON.parse(Buffer.concat(chunks).toString()) })
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/B0/secret`
  })
  afterAll(() => new Promise((resolve) => server.close(resolve)))
  beforeEach(() => {
    posted = []
    answer = { status: 200, body: 'ok' }
  })

  it('P42 says what happened, what to do next, and where to read more', async () => {
    expect(await slack({ url })(alertAbout(OWING), context)).toBeUndefined()
    expect(posted).toHaveLength(1)
    expect(posted[0]!.headers['content-type']).toBe('application/json')
    expect(posted[0]!.json.text).toBe(
      '*warning: underpayment, order A-1*\n' +
        'Order A-1 asks for $20.00 and has $19.99.\n' +
        'Next: ask the buyer for the rest, write the rest off by a decision, or refund what came\n' +
        'More: paidonce exceptions show 12\n_effect_1_5_',
    )
  })

  it('tells of many in one message, urgent ones first, and counts what it leaves out', async () => {
    const many = Array.from({ length: 30 }, (_, place) => ({ ...OWING, subject: `A-${place}` }))
    const urgent = { ...OWING, subject: 'pi_9', kind: 'late_reversal', severity: 'urgent' }
    await slack({ url })(alertAbout({ exceptions: [...many, urgent] }, DIGEST_TOPIC), context)
    const { text } = posted[0]!.json
    expect(text).toContain('*31 exceptions, 1 of them urgent: 30 underpayment, 1 late reversal*')
    expect(text.split('\n')[1]).toBe('urgent: late reversal, order pi_9')
    expect(text).toContain('... and 11 more.')
    expect(text.length).toBeLessThan(4_000)
  })

  it('lets no reference or message mention a channel or make a link', async () => {
    const message = 'Order <!channel> & <https://evil.example|click>'
    await slack({ url })(alertAbout({ ...OWING, subject: '<!here>', message }), context)
    expect(posted[0]!.json.text).not.toMatch(/<[!h]/)
    expect(posted[0]!.json.text).toContain('&lt;!channel&gt; &amp; &lt;https')
  })

  it('says the name of anything that is no alert', async () => {
    await slack({ url })(alertAbout({}, 'receipt.due'), context)
    expect(posted[0]!.json.text).toContain('receipt.due: order A-1')
  })

  it('takes answers for what they mean, and never quotes its address', async () => {
    const send = () => Promise.resolve(slack({ url })(alertAbout(OWING), context))
    answer = { status: 429, headers: { 'retry-after': '30' } }
    expect(await send()).toEqual(retryAfter(30_000, 'The receiver answered 429'))
    answer = { status: 410, body: 'channel_is_archived' }
    expect(await send()).toEqual(giveUp('The receiver answered 410: channel_is_archived'))
    answer = { status: 500, body: 'oops' }
    await expect(send()).rejects.toThrow('The receiver answered 500: oops')
    answer = { status: 302, headers: { location: 'http://127.0.0.1:1/' } }
    await expect(send()).rejects.toThrow('302')
    const nobody = slack({ url: 'http://127.0.0.1:1/services/secret' })
    const refused = await Promise.resolve(nobody(alertAbout(OWING), context)).catch((error: Error) => error)
    expect(refused).toBeInstanceOf(Error)
    expect(String(refused)).not.toContain('secret')
  })

  it('refuses a URL that it cannot post to', () => {
    for (const wrong of ['', 'hooks.slack.com/x', 'ftp://example.com', 'https://a:b@example.com']) {
      expect(() => slack({ url: wrong })).toThrow(expect.objectContaining({ code: 'config_invalid' }))
    }
  })
})
