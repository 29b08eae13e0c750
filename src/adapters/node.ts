import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PaidOnce } from '../paidonce.ts'
import type { Answer } from '../receive/answer.ts'
import { endpointOf } from '../receive/fetch.ts'

/** A request listener for `node:http`: the endpoint is the last part of the path. Translates, decides nothing. */
export function nodeListener(
  paidonce: PaidOnce,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { receiver } = paidonce
  return (request, response) => {
    const endpoint = endpointOf(pathOf(request.url ?? '/'))
    const announced = Number(request.headers['content-length'] ?? 0)
    if (announced > receiver.body_max)
      return refuseBody(request, response, receiver.tooLarge(endpoint, announced))
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength
      if (size <= receiver.body_max) chunks.push(chunk)
      else if (!response.headersSent) refuseBody(request, response, receiver.tooLarge(endpoint, size))
    })
    request.on('end', () => {
      if (response.headersSent) return
      const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      const { method = 'POST', headers } = request
      receiver.receive({ endpoint, method, headers, body }).then(
        (answer) => send(response, answer),
        // Without an answer the sender delivers again.
        () => response.destroy(),
      )
    })
    // A sender that hangs up is nobody to answer; what it sent was not complete.
    request.on('error', () => response.destroy())
  }
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.body) })
  response.end(answer.body)
}

/** Answers and stops reading; the connection is closed, since the rest of the body would be taken for a request. */
function refuseBody(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  request.removeAllListeners('data')
  request.resume()
  response.once('finish', () => request.destroy())
  send(response, answer)
}
