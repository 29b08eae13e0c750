import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { PaidOnce } from '../paidonce.ts'
import type { Confirmation } from '../reconcile/confirm-order.ts'

interface ConfirmRoute {
  Params: { reference: string }
  Querystring: { token?: string | string[] }
}

/** So many buyers may wait on open streams of one process; further ones ask again by themselves. */
const STREAMS_MAX = 200
/** A stream ends after so long; browsers connect anew. */
const STREAM_MS = 120_000
/** How long the first answer may wait for the provider. */
const LIMIT_MS = 2_000
const NO_STORE = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/**
 * `GET /confirm/:reference?token=...`: how an order stands, for the buyer's waiting page. JSON, or Server-Sent Events where
 * the browser asks for them. Without a token for this very order nobody learns whether it exists.
 */
export function confirmRoute(app: FastifyInstance, paidonce: PaidOnce): void {
  let streams = 0
  app.get<ConfirmRoute>('/confirm/:reference', async (request, reply) => {
    const { reference } = request.params
    const { token } = request.query
    const tenant = typeof token === 'string' ? paidonce.tenantOfConfirmToken(reference, token) : null
    if (tenant === null) return reply.code(404).headers(NO_STORE).send({ status: 'refused' })
    const look = (limit_ms: number) => paidonce.confirm(reference, { tenant, limit_ms })
    if (!/\btext\/event-stream\b/.test(request.headers.accept ?? '')) {
      return reply.headers(NO_STORE).send(await look(LIMIT_MS))
    }
    if (streams >= STREAMS_MAX) {
      return reply
        .code(503)
        .headers({ ...NO_STORE, 'retry-after': '5' })
        .send({ status: 'refused' })
    }
    streams += 1
    try {
      await stream(reply, look)
    } finally {
      streams -= 1
    }
    return reply
  })
}

/** Tells each change once, until nothing more is expected, the browser is gone or the time is up. */
async function stream(reply: FastifyReply, look: (limit_ms: number) => Promise<Confirmation>): Promise<void> {
  const { raw } = reply
  reply.hijack()
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  raw.writeHead(200, { ...NO_STORE, 'content-type': 'text/event-stream; charset=utf-8' })
  raw.write('retry: 3000\n\n')
  let told = ''
  const end_ms = performance.now() + STREAM_MS
  try {
    while (!gone.signal.aborted && performance.now() < end_ms) {
      const confirmation = await look(LIMIT_MS)
      const text = JSON.stringify(confirmation)
      if (text !== told) raw.write(`event: status\ndata: ${text}\n\n`)
      told = text
      if (confirmation.look_again_ms === null) break
      await pause(LOOK_MS, undefined, { signal: gone.signal })
    }
  } catch {
    // The browser is gone, or the database is away: either way it connects again.
  }
  raw.end()
}

const LOOK_MS = 1_500
