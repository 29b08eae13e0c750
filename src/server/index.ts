import { createServer } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { nodeListener } from '../adapters/node.ts'
import type { PaidOnce } from '../paidonce.ts'
import type { Answer } from '../receive/answer.ts'
import { confirmRoute } from './confirm-route.ts'
import { metricsRoute } from './metrics-route.ts'
import { returnRoute } from './return-route.ts'

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

/** Starts the HTTP server of a PaidOnce: `POST /webhooks/:endpoint`, `/return/:endpoint`, `/healthz`, `/readyz`. */
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
  const deliver = nodeListener(paidonce)
  const app = Fastify({
    logger: false,
    // Deliveries go straight to the receiver; everything else goes through Fastify, whose
    // body parsing, hooks and reply do nothing for a delivery.
    serverFactory: (route, options) =>
      createServer(
        { requestTimeout: Number(options.requestTimeout ?? 0), keepAliveTimeout: KEEP_ALIVE_MS },
        (request, response) => {
          if (DELIVERY.test(request.url ?? '')) deliver(request, response)
          else route(request, response)
        },
      ),
    // Senders do not follow redirects, and both spellings of a path are given out.
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
    // An address that cannot be read is not sent back.
    frameworkErrors: (_error, _request, reply) => {
      ;(reply as FastifyReply).code(400).send({ status: 'refused' })
    },
    // Nobody signs a delivery for half a minute; a body that trickles in only holds a socket.
    requestTimeout: 30_000,
    forceCloseConnections: 'idle',
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const ready = await paidonce.ready()
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', backlog: paidonce.backlog })
  })
  returnRoute(app, paidonce)
  confirmRoute(app, paidonce)
  metricsRoute(app, paidonce)
  app.setNotFoundHandler((_request, reply) => {
    send(
      reply,
      receiver.refuse('', { refused: true, code: 'unknown_endpoint', status: 404, detail: 'no such path' }),
    )
  })
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
    // What Fastify itself finds wrong with a request is the sender's; nothing raw goes back.
    reply
      .code(error.statusCode !== undefined && error.statusCode < 500 ? error.statusCode : 503)
      .send({ status: 'refused' }),
  )
  return app
}

/** Longer than the 60 s of common proxies: whoever hangs up first on an idle connection races with the next delivery. */
const KEEP_ALIVE_MS = 72_000

/** `/webhooks/<endpoint>`, with or without a final slash, doubled slashes or a query. */
const DELIVERY = /^\/+webhooks\/+[^/?]+\/*(\?|$)/

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  return reply.code(answer.status).headers(answer.headers).send(answer.body)
}
