import { createServer } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import type { PaidOnce } from '../../paidonce.ts'
import type { Step } from './bad-day.ts'
import { sendAll } from './sender.ts'

const server = createServer()
afterEach(() => {
  server.close()
})

it('sends again when the connection breaks before an answer, and goes on', async () => {
  let requests = 0
  server.on('request', (_request, response) => {
    requests += 1
    if (requests === 1) response.destroy()
    else response.end('{}')
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  const steps: Step[] = [{ kind: 'deliver', body: '{}', spoilt: 'honest', copies: 1 }]
  const sent = await sendAll({} as PaidOnce, steps, {
    url: `http://127.0.0.1:${port}/`,
    secret: 'whsec_dGhlIHNlbmRlciBvZiB0aGUgZGVtbw',
    concurrency: 1,
    now_ms: () => 0,
    onProgress: () => undefined,
  })
  expect(sent).toMatchObject({ deliveries: 1, accepted: 1, turned_away: 0, sent_again: 1 })
})
