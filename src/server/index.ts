import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { PaidOnce } from '../paidonce.ts'
import type { Answer } from '../receive/answer.ts'

export interface ServeOptions {
  /** Default 8480; 0 for any free port. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly host?: string
}

export interface RunningServer {
  readonly port: number
  readonly host: string
  readonly app: FastifyInstance
  /** Takes no new connections and ends when the open requests are answered. */
  close(): Promise<void>
}

/** Starts the HTTP server of a PaidOnce: `POST /webhooks/:endpoint`, `/healthz`, `/readyz`. */
export async function serve(paidonce: PaidOnce, options: ServeOptions = {}): Promise<RunningServer> {
  const app = build(paidonce)
  const host = options.host ?? '127.0.0.1'
  await app.listen({ port: options.port ?? 8480, host })
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { port, host, app, close: () => app.close() }
}

function build(paidonce: PaidOnce): FastifyInstance {
  const { receiver } = paidonce
  const app = Fastify({
    logger: false,
    bodyLimit: receiver.body_max,
    // Senders do not follow redirects, and both spellings of a path are given out.
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
    // Nobody signs a delivery for half a minute; a body that trickles in only holds a socket.
    requestTimeout: 30_000,
    forceCloseConnections: 'idle',
  })
  // The raw bytes are what is signed, whatever the content type says they are.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.all('/webhooks/:endpoint', (request, reply) => deliver(paidonce, request, reply))
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const ready = await paidonce.ready()
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', backlog: paidonce.backlog })
  })
  app.setNotFoundHandler((_request, reply) => {
    send(
      reply,
      receiver.refuse('', { refused: true, code: 'unknown_endpoint', status: 404, detail: 'no such path' }),
    )
  })
  app.setErrorHandler((error: { code?: string; statusCode?: number }, request, reply) => {
    const endpoint = (request.params as { endpoint?: string } | undefined)?.endpoint ?? ''
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
      return send(
        reply,
        receiver.tooLarge(endpoint, Number(request.headers['content-length'] ?? receiver.body_max + 1)),
      )
    }
    // What Fastify itself finds wrong with a request (a length that does not match, a broken encoding) is the sender's.
    return reply
      .code(error.statusCode !== undefined && error.statusCode < 500 ? error.statusCode : 503)
      .send({ status: 'refused' })
  })
  return app
}

const NO_BYTES = new Uint8Array(0)

async function deliver(
  paidonce: PaidOnce,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { endpoint } = request.params as { endpoint: string }
  const body = request.body instanceof Uint8Array ? request.body : NO_BYTES
  return send(
    reply,
    await paidonce.receive({ endpoint, method: request.method, headers: headersOf(request), body }),
  )
}

/** Node joins most repeated headers; the raw list tells those apart that it would drop. */
function headersOf(request: FastifyRequest): Record<string, string | string[] | undefined> {
  return request.headers
}

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  return reply.code(answer.status).headers(answer.headers).send(answer.body)
}
