import { Fault } from '../facts/fault.ts'
import { type Refusal, refusal } from '../facts/refusal.ts'
import type { Delivery, Verdict, Verified } from '../providers/contract.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { SettleResult } from '../settle/settler.ts'
import { type Answer, DUPLICATE, OK, refused, THERE, tryAgain } from './answer.ts'
import type { Batcher } from './batcher.ts'
import { translateDelivery } from './translate-delivery.ts'
import type { KeepUnconfirmed } from './unconfirmed.ts'

/** One request as the outside hands it in. */
export interface ReceiveRequest extends Delivery {
  /** Name of the endpoint, from the path. */
  readonly endpoint: string
}

export interface ReceiverOptions {
  /** Largest body, bytes. Default 1 MiB. Whoever reads the request should stop reading there. */
  readonly body_max?: number
}

/** What the receiver tells whoever counts: one call per delivery. */
export interface ReceiveObserver {
  verified(endpoint: Endpoint, secret_label: string): void
  refused(endpoint: string, refusal: Refusal): void
  answered(
    endpoint: string,
    status: 'ok' | 'duplicate' | 'kept' | 'stored' | 'unavailable',
    took_ms: number,
  ): void
  fault(endpoint: string, fault: Fault): void
}

/**
 * The path of one delivery: find the endpoint, verify the raw bytes, translate, settle, answer. Nothing slow stands
 * in it, and 200 is answered only after COMMIT.
 */
export class Receiver {
  readonly body_max: number
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #batcher: Batcher
  readonly #now_ms: () => number
  readonly #observer: ReceiveObserver
  readonly #unconfirmed: KeepUnconfirmed

  constructor(
    endpoints: ReadonlyMap<string, Endpoint>,
    batcher: Batcher,
    now_ms: () => number,
    observer: ReceiveObserver,
    unconfirmed: KeepUnconfirmed,
    options: ReceiverOptions = {},
  ) {
    this.#endpoints = endpoints
    this.#batcher = batcher
    this.#now_ms = now_ms
    this.#observer = observer
    this.#unconfirmed = unconfirmed
    this.body_max = options.body_max ?? 1024 * 1024
  }

  /** Receives one delivery. Never throws and never answers 500. */
  async receive(request: ReceiveRequest): Promise<Answer> {
    const began_ms = this.#now_ms()
    const endpoint = this.#endpoints.get(request.endpoint)
    if (!endpoint)
      return this.refuse(request.endpoint, refusal('unknown_endpoint', 'no endpoint has this name'))
    if (!endpoint.provider.methods.includes(request.method)) {
      this.#observer.refused(endpoint.name, refusal('wrong_method', request.method))
      return refused({ status: 405 }, endpoint.provider.methods)
    }
    // Some senders look whether the address is there before they subscribe it.
    if (request.method === 'HEAD') return THERE
    if (request.body.byteLength > this.body_max) return this.tooLarge(endpoint.name, request.body.byteLength)
    const verdict = endpoint.provider.verify(request, began_ms)
    if (!(verdict instanceof Promise)) return this.#take(endpoint, request, verdict, began_ms)
    try {
      return await this.#take(endpoint, request, await verdict, began_ms)
    } catch (error) {
      return this.#cannotVerify(endpoint.name, error)
    }
  }

  async #take(
    endpoint: Endpoint,
    request: ReceiveRequest,
    verdict: Verdict,
    began_ms: number,
  ): Promise<Answer> {
    if (verdict.refused) return this.refuse(endpoint.name, verdict)
    if ('unconfirmed' in verdict) return this.#keepUnconfirmed(endpoint, request, began_ms)
    return this.#settle(endpoint, request, verdict, began_ms)
  }

  async #settle(
    endpoint: Endpoint,
    request: ReceiveRequest,
    verified: Verified,
    began_ms: number,
  ): Promise<Answer> {
    this.#observer.verified(endpoint, verified.secret_label)
    const item = translateDelivery(endpoint, request, verified, new Date(began_ms))
    const result = await this.#batcher.submit(endpoint.bucket, item)
    return this.#answer(endpoint.name, result, this.#now_ms() - began_ms)
  }

  /** A key could not be fetched: whether the delivery is authentic nobody knows, and the sender is asked to try again. */
  #cannotVerify(endpoint: string, error: unknown): Answer {
    const fault =
      error instanceof Fault
        ? error
        : new Fault('provider_unavailable', 'What verifying needs could not be had. Deliver again.', {
            retriable: true,
            cause: error,
          })
    this.#observer.fault(endpoint, fault)
    return tryAgain(30)
  }

  /** Stored apart and answered at once; a worker asks the provider whether it sent this. */
  async #keepUnconfirmed(endpoint: Endpoint, request: ReceiveRequest, began_ms: number): Promise<Answer> {
    const result = await this.#unconfirmed(endpoint, request, new Date(began_ms))
    if (result === 'kept') {
      this.#observer.answered(endpoint.name, 'stored', this.#now_ms() - began_ms)
      return OK
    }
    this.#observer.fault(endpoint.name, result)
    this.#observer.answered(endpoint.name, 'unavailable', this.#now_ms() - began_ms)
    return tryAgain(60)
  }

  /** For whoever stopped reading a body that is too large. `size` is what was announced or read so far, bytes. */
  tooLarge(endpoint: string, size: number): Answer {
    return this.refuse(endpoint, refusal('body_too_large', `${size} bytes`))
  }

  refuse(endpoint: string, refusal: Refusal): Answer {
    this.#observer.refused(endpoint, refusal)
    return refused(refusal)
  }

  #answer(endpoint: string, result: SettleResult, took_ms: number): Answer {
    if ('fault' in result) {
      this.#observer.fault(endpoint, result.fault)
      this.#observer.answered(endpoint, 'unavailable', took_ms)
      return tryAgain(result.fault.code === 'queue_full' ? 5 : 30)
    }
    const { outcome } = result
    this.#observer.answered(endpoint, outcome === 'settled' ? 'ok' : outcome, took_ms)
    return outcome === 'duplicate' ? DUPLICATE : OK
  }
}
