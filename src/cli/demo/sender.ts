import { Agent, request } from 'node:http'
import type { PaidOnce } from '../../paidonce.ts'
import type { SampleMessage } from '../../providers/sample-maker.ts'
import type { Step } from './bad-day.ts'
import { type Performer, SHOP } from './cast/cast.ts'
import type { Delivery, Street } from './cast/player.ts'
import { messageOf } from './spoil.ts'
import { newStreet } from './street.ts'

export interface Sent {
  /** Requests that were answered, repeats after a 503 not counted. */
  deliveries: number
  accepted: number
  /** Spoilt deliveries that were turned away, as they must be. */
  refused: number
  /** Spoilt deliveries that were taken in until their provider says whether it sent them. */
  held: number
  /** Spoilt deliveries that were accepted. Must stay 0. */
  believed: number
  /** Honest deliveries that were turned away. Must stay 0. */
  turned_away: number
  /** Times that a delivery was sent again because the receiver asked for it or did not answer. */
  sent_again: number
}

export interface SenderOptions {
  /** `http://127.0.0.1:8480` */
  readonly url: string
  readonly performers: readonly Pick<Performer, 'player' | 'secret'>[]
  /** How many steps are under way at once. */
  readonly concurrency: number
  readonly now_ms: () => number
  readonly onProgress: (done: number) => void
}

/**
 * Lets the bad day happen: registers orders, sends deliveries and buyers, in the order of the script, many at once.
 * Gives what was sent to each endpoint.
 */
export async function sendAll(
  paidonce: PaidOnce,
  steps: readonly Step[],
  options: SenderOptions,
): Promise<ReadonlyMap<string, Sent>> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.concurrency * 4 })
  const senders = new Map(
    options.performers.map((performer) => [
      performer.player.name,
      new Sender(paidonce, performer, agent, options),
    ]),
  )
  let next = 0
  let done = 0
  const lane = async () => {
    while (next < steps.length) {
      const step = steps[next++]!
      if (step.kind === 'register') await paidonce.orders.register(step.order)
      else await senders.get(step.player)!.take(step)
      options.onProgress(++done)
    }
  }
  try {
    await Promise.all(Array.from({ length: options.concurrency }, lane))
  } finally {
    agent.destroy()
  }
  return new Map([...senders].map(([name, { sent }]) => [name, sent]))
}

const TRIES = 20
/** In place of a status: the connection broke before an answer came, so nobody knows, and it is sent again. */
const UNANSWERED = 0

interface Answered {
  readonly status: number
  readonly location: string
}

/** What sends to one endpoint, and counts. */
class Sender {
  readonly sent: Sent = {
    deliveries: 0,
    accepted: 0,
    refused: 0,
    held: 0,
    believed: 0,
    turned_away: 0,
    sent_again: 0,
  }
  readonly #performer: Pick<Performer, 'player' | 'secret'>
  readonly #agent: Agent
  readonly #options: SenderOptions
  readonly #street: Street

  constructor(
    paidonce: PaidOnce,
    performer: Pick<Performer, 'player' | 'secret'>,
    agent: Agent,
    options: SenderOptions,
  ) {
    this.#performer = performer
    this.#agent = agent
    this.#options = options
    const { name } = performer.player
    this.#street = newStreet(paidonce, name, `${options.url}/return/${name}`, (query, honest) =>
      this.#comeBack(query, honest),
    )
  }

  async take(step: Exclude<Step, { kind: 'register' }>): Promise<void> {
    if (step.kind === 'travel') return step.journey(this.#street)
    const copies = Array.from({ length: step.copies }, () => this.#deliver(step.delivery))
    await Promise.all(copies)
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { player, secret } = this.#performer
    const url = `${this.#options.url}/webhooks/${player.name}`
    const { status } = await this.#untilAnswered(() =>
      send(this.#agent, url, messageOf(delivery, player, secret, this.#options.now_ms())),
    )
    const accepted = status >= 200 && status < 300
    this.sent.deliveries += 1
    if (delivery.spoilt === 'honest') this.sent[accepted ? 'accepted' : 'turned_away'] += 1
    else if (accepted) this.sent[player.believedLater ? 'held' : 'believed'] += 1
    else this.sent.refused += 1
  }

  /** A browser comes back: it is sent on to the shop's page, whose name tells what the buyer is told. */
  async #comeBack(query: string, honest: boolean): Promise<void> {
    const url = `${this.#options.url}/return/${this.#performer.player.name}?${query}`
    const { status, location } = await this.#untilAnswered(() =>
      send(this.#agent, url, { method: 'GET', query, headers: {}, body: '' }),
    )
    const word = location.startsWith(SHOP) ? location.slice(SHOP.length) : ''
    this.sent.deliveries += 1
    if (honest) this.sent[status === 303 && word !== 'unknown' ? 'accepted' : 'turned_away'] += 1
    else this.sent[word === 'paid' ? 'believed' : 'refused'] += 1
  }

  async #untilAnswered(attempt: () => Promise<Answered>): Promise<Answered> {
    for (let tries = 1; ; tries += 1) {
      const answered = await attempt()
      if ((answered.status !== UNANSWERED && answered.status < 500) || tries === TRIES) return answered
      // As providers do, only sooner: a demo has no hours to wait.
      this.sent.sent_again += 1
      await new Promise((resolve) => setTimeout(resolve, 50 * tries))
    }
  }
}

function send(agent: Agent, url: string, { method, headers, body }: SampleMessage): Promise<Answered> {
  const bytes = Buffer.from(body)
  return new Promise((resolve) => {
    const unanswered = () => resolve({ status: UNANSWERED, location: '' })
    const sending = request(
      url,
      { agent, method, headers: { ...headers, 'content-length': bytes.byteLength } },
      (response) => {
        response.resume()
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? UNANSWERED,
            location: response.headers.location ?? '',
          }),
        )
        response.on('error', unanswered)
      },
    )
    sending.on('error', unanswered)
    sending.end(bytes)
  })
}
