import type { FakeAnswer, Faults } from '../fake-server.ts'
import { fieldIn } from '../field.ts'

const KEY = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** What a stand-in has answered, by idempotency key: a repeat gets the first answer and does nothing. */
export class FakeAnswers {
  readonly #answered = new Map<string, FakeAnswer>()

  once(
    { keys_expire }: Faults,
    body: Buffer,
    act: (request: unknown, key: string) => FakeAnswer,
  ): FakeAnswer {
    const request: unknown = JSON.parse(body.toString('utf8'))
    const key = fieldIn(request, 'idempotencyKey')
    if (typeof key !== 'string' || !KEY.test(key)) return INVALID
    const first = this.#answered.get(key)
    if (first !== undefined) return first
    const answer = act(request, key)
    if (!keys_expire && answer.status < 400) this.#answered.set(key, answer)
    return answer
  }
}

export const INVALID: FakeAnswer = { status: 400, body: { code: 2, message: 'API parameter invalid' } }
export const NOT_FOUND: FakeAnswer = { status: 404, body: { code: -1, message: 'Resource not found' } }

export function found(data: unknown, status = 200): FakeAnswer {
  return { status, body: { data } }
}
