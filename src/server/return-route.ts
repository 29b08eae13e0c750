import type { FastifyInstance, FastifyRequest } from 'fastify'
import { endpointOptions } from '../options.ts'
import type { PaidOnce } from '../paidonce.ts'
import type { PaymentReturn } from '../reconcile/payment-return.ts'

interface ReturnRoute {
  Params: { endpoint: string }
}

const WORDS: Readonly<Record<PaymentReturn['status'], string>> = {
  paid: 'Your payment has arrived. Thank you.',
  pending: 'Your payment is on its way. This can take some minutes; you need not pay again.',
  failed: 'The payment did not succeed. Nothing was charged.',
  canceled: 'The payment was canceled. Nothing was charged.',
  unknown: 'This payment is not known here.',
}

/** `GET` and `POST /return/:endpoint`: where a provider sends the buyer's browser back to. */
export function returnRoute(app: FastifyInstance, paidonce: PaidOnce): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: 65_536 }, (_request, body, done) =>
      done(null, body),
    )
    scope.route<ReturnRoute>({
      method: ['GET', 'POST'],
      url: '/return/:endpoint',
      handler: async (request, reply) => {
        const { endpoint } = request.params
        const back = await paidonce.paymentReturn({ endpoint, ...deliveryOf(request) })
        const page = pageOf(paidonce, endpoint, back)
        // A browser that posted must come on with GET.
        if (page !== null)
          return reply.code(303).header('location', page).header('cache-control', 'no-store').send()
        return reply
          .code(back.status === 'unknown' ? 404 : 200)
          .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
          .send(`${WORDS[back.status]}\n`)
      },
    })
  })
}

function deliveryOf(request: FastifyRequest) {
  const { method, headers, url } = request
  const start = url.indexOf('?')
  return {
    method,
    headers,
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    query: start < 0 ? '' : url.slice(start + 1),
  }
}

/** The merchant's own page; null where none is configured. */
function pageOf(paidonce: PaidOnce, endpoint: string, back: PaymentReturn): string | null {
  const given = paidonce.options.endpoints[endpoint]
  return (given && endpointOptions(given).returnTo?.(back)) ?? null
}
