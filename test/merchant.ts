import { createHash, randomUUID } from 'node:crypto'
import type { Fact } from '../src/facts/fact.ts'
import { type OrderTerms, orderTerms } from '../src/facts/order.ts'
import type { PaymentSubject } from '../src/facts/subject.ts'
import { type SettleItem, settleItem } from '../src/settle/item.ts'
import type { SettleContext } from '../src/settle/settle.ts'
import { type SettleResult, Settler, type SettlerOptions } from '../src/settle/settler.ts'
import type { Database } from '../src/store/database.ts'
import type { EventRow } from '../src/store/queries/insert-events.ts'
import { leaseUnsettled } from '../src/store/queries/mark-unsettled.ts'
import { newIds } from '../src/store/queries/take-ids.ts'
import type { Message, Outcome } from './history/history.ts'
import { readOutcome } from './merchant-books.ts'

export const BUCKET = 0

export type MerchantOptions = Partial<
  Pick<SettleContext, 'onEntitlement' | 'findOrders' | 'hook_limit_ms' | 'catalogue'>
> &
  SettlerOptions & { readonly tenant?: string; readonly now_ms?: () => number }

/** One merchant on a test database: a tenant of its own, a settler, and short ways to tell it things and to read its books. */
export class Merchant {
  readonly database: Database
  readonly tenant: string
  readonly settler: Settler
  readonly context: SettleContext
  readonly #told = new Map<string, readonly Fact[]>()

  constructor(database: Database, options: MerchantOptions = {}) {
    const { onEntitlement = null, findOrders = null, hook_limit_ms = 1_000, catalogue } = options
    this.database = database
    this.tenant = options.tenant ?? `merchant-${randomUUID()}`
    this.context = {
      database,
      epoch: 1n,
      ids: newIds(),
      topics: new Set(['receipt.due', 'exception.opened']),
      onEntitlement,
      findOrders,
      catalogue,
      hook_limit_ms,
    }
    this.settler = new Settler(this.context, options.now_ms ?? Date.now, options)
  }

  payment(id: string): PaymentSubject {
    return { kind: 'payment', namespace: 'stripe', account: 'default', id }
  }

  /** An event that tells these facts. The same id and body are the same delivery again. */
  event(id: string, facts: readonly Fact[], more: Partial<EventRow> = {}): SettleItem {
    this.#told.set(id, facts)
    const body = more.body ?? Buffer.from(id)
    const event: EventRow = {
      tenant: this.tenant,
      provider: 'stripe',
      account: 'default',
      mode: 'test',
      event_key: id,
      key_kind: 'id',
      endpoint: 'stripe',
      type: 'test',
      state: 'settled',
      reason: '',
      secret_label: 'secret-1',
      api_version: null,
      adapter_version: 1,
      occurred_at: null,
      received_at: new Date('2026-01-01T00:00:00Z'),
      digest: createHash('sha256').update(body).digest(),
      headers: null,
      ...more,
      body,
    }
    return settleItem({ tenant: this.tenant, event, facts })
  }

  /** The merchant's own statement, without an event. */
  states(...facts: readonly Fact[]): SettleItem {
    return settleItem({ tenant: this.tenant, source: { kind: 'merchant', id: 0n, version: 1 }, facts })
  }

  order(reference: string, terms: OrderTerms): SettleItem {
    return this.states(orderTerms({ kind: 'order', reference }, terms))
  }

  /** A message of a made-up history; what the merchant registers comes without an event. */
  message({ id, facts }: Message): SettleItem {
    return id.startsWith('registered ') ? this.states(...facts) : this.event(id, facts)
  }

  /** Settles a batch and waits for every item, also for those in lanes of their own. */
  settle(...items: readonly SettleItem[]): Promise<SettleResult[]> {
    const results = new Map<number, SettleResult>()
    return new Promise((resolve, reject) => {
      const end = (place: number, result: SettleResult) => {
        if (results.has(place)) reject(new Error(`The item in place ${place} ended twice.`))
        results.set(place, result)
        if (results.size === items.length) resolve(items.map((_, index) => results.get(index)!))
      }
      this.settler.settleBatch(BUCKET, items, end).catch(reject)
      if (items.length === 0) resolve([])
    })
  }

  /** The outcomes of a batch in a word each. */
  async outcomes(...items: readonly SettleItem[]): Promise<string[]> {
    const results = await this.settle(...items)
    return results.map((result) => ('fault' in result ? result.fault.code : result.outcome))
  }

  /** Settles what was kept, as the sweep does: the marks are leased, and what they stand for is derived under the locks. */
  async sweep(): Promise<string[]> {
    const now = new Date(Date.now() + 60_000)
    const lease_until = new Date(now.getTime() + 60_000)
    const marks = await leaseUnsettled(this.database, BUCKET, { now, lease_until, limit: 10_000 })
    const items: SettleItem[] = []
    for (const { id, times, event_id, order_ref, tenant } of marks) {
      if (tenant !== this.tenant) continue
      const common = { tenant, rederive: true, marks: [{ id, times }] }
      if (event_id === 0n) {
        items.push(settleItem({ ...common, touches: [{ kind: 'order', reference: order_ref }] }))
        continue
      }
      const [event] = await this.rows<{ event_key: string }>(`select event_key from events where id = $1`, [
        event_id,
      ])
      const facts = this.#told.get(event!.event_key) ?? []
      const source = { kind: 'event', id: event_id, version: 1 } as const
      items.push(settleItem({ ...common, source, facts, touches: facts.map((fact) => fact.subject) }))
    }
    return this.outcomes(...items)
  }

  rows<Row = Record<string, unknown>>(
    text: string,
    values: readonly (string | bigint)[] = [],
  ): Promise<Row[]> {
    return this.database.query<Row>(
      { name: `test-${createHash('sha1').update(text).digest('hex')}`, text },
      values,
    )
  }

  /** One number about this merchant, from `select count(*) from <from>`, where `$1` is the tenant. */
  async count(from: string): Promise<number> {
    const [row] = await this.rows<{ count: number }>(`select count(*)::int as count from ${from}`, [
      this.tenant,
    ])
    return row!.count
  }

  /** The open exceptions, as `kind cause`, sorted. */
  async exceptions(): Promise<string[]> {
    const rows = await this.rows<{ kind: string; cause: string }>(
      `select kind, cause from exceptions where tenant = $1 and state = 'open'`,
      [this.tenant],
    )
    return rows.map(({ kind, cause }) => `${kind} ${cause}`).sort()
  }

  /** The rights given, as `order item state`, sorted. */
  async rights(): Promise<string[]> {
    const rows = await this.rows<{ reference: string; item: string; state: string }>(
      `select o.reference, e.item, e.state from entitlements e join orders o on o.id = e.order_id where o.tenant = $1`,
      [this.tenant],
    )
    return rows.map(({ reference, item, state }) => `${reference} ${item} ${state}`).sort()
  }

  /** The effects written for orders, as `topic item revision state`, sorted. */
  async effects(): Promise<string[]> {
    const rows = await this.rows<{ topic: string; item: string; revision: bigint; state: string }>(
      `select topic, item, revision, state from effects where tenant = $1 and topic <> 'exception.opened'`,
      [this.tenant],
    )
    return rows.map(({ topic, item, revision, state }) => `${topic} ${item} ${revision} ${state}`).sort()
  }

  outcome(): Promise<Outcome> {
    return readOutcome(this)
  }
}
