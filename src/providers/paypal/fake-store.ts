import { fieldIn, listIn, textIn } from '../field.ts'
import { readMoney } from './amount.ts'
import { type DisputeMade, madeEvent, madeOrder } from './made-up.ts'

export type FakeKind =
  | 'order'
  | 'capture'
  | 'authorization'
  | 'refund'
  | 'reversal'
  | 'sale'
  | 'sale_refund'
  | 'subscription'
  | 'dispute'
  | 'invoice'

interface Sold {
  readonly seed: string
  readonly amount_minor: bigint
  readonly currency: string
  readonly order?: string | undefined
  readonly payment?: string | undefined
}

interface Version {
  readonly at_ms: number
  readonly object: object
}

/** Objects of the stand-in with their history, so that a lagging read can be answered, and the events about them. */
export class FakeStore {
  readonly #now_ms: () => number
  readonly #versions = new Map<string, Version[]>()
  readonly #sold = new Map<string, Sold>()
  readonly #given_back = new Map<string, bigint>()
  readonly #told: {
    readonly type: string
    readonly kind: FakeKind
    readonly id: string
    readonly at_s: number
  }[] = []
  /** Answers to requests with an idempotency key. */
  readonly answered = new Map<string, { readonly id: string }>()

  constructor(now_ms: () => number) {
    this.#now_ms = now_ms
  }

  now_s(): number {
    return Math.floor(this.#now_ms() / 1000)
  }

  put(kind: FakeKind, id: string, object: object): void {
    const name = `${kind}/${id}`
    this.#versions.set(name, [...(this.#versions.get(name) ?? []), { at_ms: this.#now_ms(), object }])
  }

  /** The object as it was so long ago; undefined when it was not there yet. */
  read(kind: FakeKind, id: string, lag_ms = 0): object | undefined {
    const until_ms = this.#now_ms() - lag_ms
    return this.#versions.get(`${kind}/${id}`)?.findLast(({ at_ms }) => at_ms <= until_ms)?.object
  }

  all(kind: FakeKind, lag_ms = 0): readonly object[] {
    return [...this.#versions.keys()]
      .filter((name) => name.startsWith(`${kind}/`))
      .flatMap((name) => this.read(kind, name.slice(kind.length + 1), lag_ms) ?? [])
  }

  count(kind: FakeKind): number {
    return this.all(kind).length
  }

  change(kind: FakeKind, id: string, fields: object): void {
    this.put(kind, id, { ...this.#present(kind, id), ...fields })
    const order = textIn(this.read(kind, id), 'supplementary_data', 'related_ids', 'order_id')
    if (kind === 'capture' && order !== undefined) this.renewOrder(order)
  }

  sell(id: string, sale: Sold): void {
    this.#sold.set(id, sale)
  }

  sold(id: string): Sold {
    const sale = this.#sold.get(id)
    if (sale === undefined) throw new RangeError(`the stand-in has no payment ${id}`)
    return sale
  }

  givenBack(payment: string): bigint {
    return this.#given_back.get(payment) ?? 0n
  }

  /** @returns what was given back in all */
  giveBack(payment: string, amount_minor: bigint): bigint {
    const total_minor = this.givenBack(payment) + amount_minor
    this.#given_back.set(payment, total_minor)
    return total_minor
  }

  markRefunded(capture: string): void {
    const whole = this.givenBack(capture) === this.sold(capture).amount_minor
    if (this.givenBack(capture) > 0n)
      this.change('capture', capture, { status: whole ? 'REFUNDED' : 'PARTIALLY_REFUNDED' })
  }

  /** Shows an order with the captures and refunds that it has now. */
  renewOrder(id: string): void {
    const captures = this.all('capture').filter(
      (one) => textIn(one, 'supplementary_data', 'related_ids', 'order_id') === id,
    )
    const ids = captures.map((one) => textIn(one, 'id'))
    const refunds = this.all('refund').filter((one) =>
      ids.some((capture) =>
        listIn(one, 'links').some((up) => textIn(up, 'href')?.endsWith(`/captures/${capture}`)),
      ),
    )
    const { seed: _seed, ...made } = this.sold(id)
    this.put(
      'order',
      id,
      madeOrder({ ...made, id, status: 'COMPLETED', at_s: this.now_s(), captures, refunds }),
    )
  }

  firstSeen(subscription: string): number {
    const first = this.#versions.get(`subscription/${subscription}`)?.[0]
    return first === undefined ? this.now_s() : Math.floor(first.at_ms / 1000)
  }

  disputed(id: string): DisputeMade {
    const object = this.#present('dispute', id)
    const seconds = (field: string) => Date.parse(textIn(object, field) ?? '') / 1000
    const value = fieldIn(object, 'dispute_amount')
    return {
      id,
      status: textIn(object, 'status') ?? '',
      stage: textIn(object, 'dispute_life_cycle_stage') ?? '',
      payment: textIn(listIn(object, 'disputed_transactions')[0], 'seller_transaction_id') ?? '',
      ...readMoney(textIn(value, 'value'), textIn(value, 'currency_code'), 'dispute_amount'),
      created_s: seconds('create_time'),
      changed_s: seconds('update_time'),
    }
  }

  tell(type: string, kind: FakeKind, id: string): void {
    this.#told.push({ type, kind, id, at_s: this.now_s() })
  }

  events(): readonly string[] {
    return this.#told.map(({ type, kind, id, at_s }) => madeEvent(type, this.#present(kind, id), at_s))
  }

  #present(kind: FakeKind, id: string): object {
    const object = this.read(kind, id)
    if (object === undefined) throw new RangeError(`the stand-in has no ${kind} ${id}`)
    return object
  }
}
