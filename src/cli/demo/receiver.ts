import { appendFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** One effect as the shop's own system received it. */
export interface Receipt {
  /** The effect's key: the idempotency key that the receiver may rely on. */
  readonly key: string
  readonly topic: string
  readonly order: string | null
  readonly subject: string
  readonly item: string
  readonly cause: string
  readonly revision: number
  readonly state: string | null
  /** How often it came under this key. */
  times: number
}

export interface EffectsReceiver {
  readonly url: string
  /** What was received, by key. */
  readonly ledger: ReadonlyMap<string, Receipt>
  /** Hears of each request after it is written down and before it is answered. */
  onReceived: (received: number) => Promise<void> | void
  close(): Promise<void>
}

/**
 * The shop's own system that effects are sent to: verifies each request, writes it into a ledger, and only then answers.
 * The ledger is its memory and a file, apart from PaidOnce's database: it is the other side's witness.
 * @param file gets one line per request
 */
export async function startEffectsReceiver(file: string, secret: string): Promise<EffectsReceiver> {
  const ledger = new Map<string, Receipt>()
  const verifier = new Webhook(secret)
  let received = 0
  writeFileSync(file, '')
  const receiver = {
    ledger,
    onReceived: (_received: number): Promise<void> | void => undefined,
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString('utf8')
      try {
        verifier.verify(body, request.headers as Record<string, string>)
      } catch {
        response.writeHead(401).end()
        return
      }
      note(ledger, body)
      appendFileSync(file, `${body}\n`)
      received += 1
      await receiver.onReceived(received)
      response.writeHead(204).end()
    })
    request.on('error', () => response.destroy())
  })
  const port = await listen(server)
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}/effects`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

interface Sent {
  readonly type: string
  readonly data: {
    readonly key: string
    readonly order: string | null
    readonly subject: { readonly kind: string; readonly key: string }
    readonly item: string
    readonly cause: string
    readonly revision: number
    readonly payload: { readonly state?: string }
  }
}

function note(ledger: Map<string, Receipt>, body: string): void {
  const { type, data } = JSON.parse(body) as Sent
  const known = ledger.get(data.key)
  if (known) {
    known.times += 1
    return
  }
  ledger.set(data.key, {
    key: data.key,
    topic: type,
    order: data.order,
    subject: `${data.subject.kind} ${data.subject.key}`,
    item: data.item,
    cause: data.cause,
    revision: data.revision,
    state: data.payload.state ?? null,
    times: 1,
  })
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
