import { Agent, request } from 'node:http'
import type { PaidOnce } from '../../paidonce.ts'
import { signStripe } from '../../providers/stripe/sample.ts'
import type { Spoilt, Step } from './bad-day.ts'

export interface Sent {
  /** Requests that were answered, repeats after a 503 not counted. */
  deliveries: number
  accepted: number
  /** Spoilt deliveries that were turned away, as they must be. */
  refused: number
  /** Spoilt deliveries that were accepted. Must stay 0. */
  believed: number
  /** Honest deliveries that were turned away. Must stay 0. */
  turned_away: number
  /** Times that a delivery was sent again because the receiver asked for it or did not answer. */
  sent_again: number
}

export interface SenderOptions {
  readonly url: string
  readonly secret: string
  /** How many deliveries are under way at once. */
  readonly concurrency: number
  readonly now_ms: () => number
  readonly onProgress: (done: number) => void
}

/** Lets the bad day happen: registers orders and sends deliveries, in the order of the script, many at once. */
export async function sendAll(
  paidonce: PaidOnce,
  steps: readonly Step[],
  options: SenderOptions,
): Promise<Sent> {
  const sent: Sent = { deliveries: 0, accepted: 0, refused: 0, believed: 0, turned_away: 0, sent_again: 0 }
  const agent = new Agent({ keepAlive: true, maxSockets: options.concurrency * 4 })
  let next = 0
  let done = 0
  const lane = async () => {
    while (next < steps.length) {
      const step = steps[next++]!
      if (step.kind === 'register') await paidonce.orders.register(step.order)
      else {
        const copies = Array.from({ length: step.copies }, () => sendOne(agent, step, options, sent))
        await Promise.all(copies)
      }
      options.onProgress(++done)
    }
  }
  try {
    await Promise.all(Array.from({ length: options.concurrency }, lane))
  } finally {
    agent.destroy()
  }
  return sent
}

const TRIES = 20
/** In place of a status: the connection broke before an answer came, so nobody knows, and it is sent again. */
const UNANSWERED = 0

async function sendOne(
  agent: Agent,
  { body, spoilt }: Extract<Step, { kind: 'deliver' }>,
  options: SenderOptions,
  sent: Sent,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const status = await post(agent, options.url, spoil(body, spoilt, options))
    if ((status !== UNANSWERED && status < 500) || attempt === TRIES) {
      count(sent, spoilt, status)
      return
    }
    // As Stripe does, only sooner: a demo has no hours to wait.
    sent.sent_again += 1
    await new Promise((resolve) => setTimeout(resolve, 50 * attempt))
  }
}

function count(sent: Sent, spoilt: Spoilt, status: number): void {
  const accepted = status >= 200 && status < 300
  sent.deliveries += 1
  if (spoilt === 'honest') sent[accepted ? 'accepted' : 'turned_away'] += 1
  else sent[accepted ? 'believed' : 'refused'] += 1
}

interface Message {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

function spoil(text: string, spoilt: Spoilt, { secret, now_ms }: SenderOptions): Message {
  const body = Buffer.from(text)
  const signed = (key: string, at_ms: number) => signStripe(body, key, at_ms)
  switch (spoilt) {
    case 'honest':
      return { body, headers: signed(secret, now_ms()) }
    case 'wrong_secret':
      return { body, headers: signed('whsec_somebody_elses_guess', now_ms()) }
    case 'changed_after_signing':
      return {
        body: Buffer.from(text.replace('"livemode":true', '"livemode": true')),
        headers: signed(secret, now_ms()),
      }
    case 'truncated':
      return { body: body.subarray(0, body.byteLength >> 1), headers: signed(secret, now_ms()) }
    case 'too_old':
      return { body, headers: signed(secret, now_ms() - 3_600_000) }
  }
}

function post(agent: Agent, url: string, { headers, body }: Message): Promise<number> {
  return new Promise((resolve) => {
    const unanswered = () => resolve(UNANSWERED)
    const sending = request(
      url,
      { agent, method: 'POST', headers: { ...headers, 'content-length': body.byteLength } },
      (response) => {
        response.resume()
        response.once('end', () => resolve(response.statusCode ?? UNANSWERED))
        response.on('error', unanswered)
      },
    )
    sending.on('error', unanswered)
    sending.end(body)
  })
}
