import type { Answer } from './answer.ts'
import type { Receiver } from './receiver.ts'

/** A web-standard request in, a web-standard response out. The endpoint is the last part of the path. */
export async function fetchDelivery(receiver: Receiver, request: Request): Promise<Response> {
  const endpoint = endpointOf(new URL(request.url).pathname)
  const body = await readBody(request, receiver.body_max)
  const answer =
    body instanceof Uint8Array
      ? await receiver.receive({
          endpoint,
          method: request.method,
          headers: headersOf(request.headers),
          body,
        })
      : receiver.tooLarge(endpoint, body.size)
  return asResponse(answer)
}

/** The last part of a path; a final slash makes no difference, since senders do not follow redirects. */
export function endpointOf(path: string): string {
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end -= 1
  const name = path.slice(path.lastIndexOf('/', Math.max(0, end - 1)) + 1, end)
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function asResponse(answer: Answer): Response {
  return new Response(answer.body, { status: answer.status, headers: { ...answer.headers } })
}

/** Web-standard headers join repeated lines with a comma, which every adapter reads as a list. */
function headersOf(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].map(([name, value]) => [name.toLowerCase(), value]))
}

/** Reads at most `body_max` bytes, whether a length was announced or not; beyond that it stops reading. */
async function readBody(request: Request, body_max: number): Promise<Uint8Array | { size: number }> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > body_max) return { size: announced }
  if (!request.body) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength
    if (size > body_max) {
      await reader.cancel()
      return { size }
    }
    chunks.push(part.value)
  }
  return Buffer.concat(chunks)
}
