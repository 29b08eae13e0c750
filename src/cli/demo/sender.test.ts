import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { PaidOnce } from '../../paidonce.ts'
import type { Step } from './bad-day.ts'
import { SHOP } from './cast/cast.ts'
import { player } from './cast/stripe.ts'
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
  const line = () => ({ method: 'POST', query: '', headers: {}, body: '{}' }) as const
  const steps: Step[] = [
    { kind: 'deliver', player: 'stripe', delivery: { line, spoilt: 'honest' }, copies: 1 },
  ]
  const sent = await sendAll({} as PaidOnce, steps, {
    url: `http://127.0.0.1:${port}`,
    performers: [{ player, secret: '' }],
    concurrency: 1,
    now_ms: () => 0,
    onProgress: () => undefined,
  })
  expect(sent.get('stripe')).toMatchObject({ deliveries: 1, accepted: 1, turned_away: 0, sent_again: 1 })
})

it('tells a buyer’s return from the page that the shop sends the browser on to', async () => {
  const server = createServer((request, response) => {
    const word = new URL(request.url ?? '/', 'http://shop').searchParams.get('word')
    response.writeHead(303, { location: `${SHOP}${word}` }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const back = (word: string, honest: boolean): Step => ({
    kind: 'travel',
    player: 'stripe',
    journey: (street) => street.comeBack(`word=${word}`, honest),
  })
  const steps = [
    back('paid', true),
    back('pending', true),
    back('unknown', true),
    back('unknown', false),
    back('pending', false),
    back('paid', false),
  ]
  const sent = await sendAll({} as PaidOnce, steps, {
    url: `http://127.0.0.1:${port}`,
    performers: [{ player, secret: '' }],
    concurrency: 1,
    now_ms: () => 0,
    onProgress: () => undefined,
  })
  expect(sent.get('stripe')).toMatchObject({ accepted: 2, turned_away: 1, refused: 2, believed: 1 })
  server.close()
})
