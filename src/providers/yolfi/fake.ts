import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { paymentData, yolfiBody } from './sample.ts'

export interface FakePayment {
  /** `inv_...` */
  readonly payment: string
  /** Minor units of `currency`. */
  readonly amount_minor: bigint
  readonly currency: string
  readonly order?: string
  readonly state: 'CREATED' | 'PENDING' | 'CONFIRMED' | 'OVERDUE'
  /** False: the API shows no price, as older payments may. Default true. */
  readonly priced?: boolean
}

/** A stand-in for Yolfi's API with state. */
export interface FakeYolfi extends FakeServer {
  /** Bodies of all that happened so far, oldest first; sign them with `signYolfi`. */
  readonly messages: readonly string[]
  setPayment(payment: FakePayment): void
}

export interface FakeYolfiOptions {
  /** Accepted bearer key of the private part. Default `yolfi_test_key`. */
  readonly apiKey?: string
  /** The clock, Unix milliseconds. Default the machine's. */
  readonly now_ms?: () => number
}

const EVENTS: Readonly<Record<string, string>> = {
  CREATED: 'invoice.created',
  CONFIRMED: 'payment.confirmed',
  OVERDUE: 'invoice.overdue',
}

interface Version {
  readonly from_ms: number
  readonly made_s: number
  readonly payment: FakePayment
}

/** Starts the stand-in. Its base address for the option `baseUrl` is its `url` and `/api`. */
export async function startFakeYolfi(options: FakeYolfiOptions = {}): Promise<FakeYolfi> {
  const now_ms = options.now_ms ?? Date.now
  const authorization = `Bearer ${options.apiKey ?? 'yolfi_test_key'}`
  const payments = new Map<string, Version[]>()
  const messages: string[] = []

  function shown(id: string, lag_ms: number): object | null {
    const version = payments.get(id)?.findLast(({ from_ms }) => from_ms <= now_ms() - lag_ms)
    if (version === undefined) return null
    const { payment, made_s } = version
    const wish = { ...payment, live: true, at_s: made_s }
    const { sourceAmount, currency, ...rest } = paymentData(wish, 'payment.confirmed')
    return { ...rest, ...(payment.priced === false ? {} : { sourceAmount, currency }), status: payment.state }
  }

  function answer({ method, path, query, headers }: FakeRequest, faults: Faults): FakeAnswer {
    if (method !== 'GET') return { status: 405 }
    const id = /^\/api\/public\/payments\/([^/]+)$/.exec(path)?.[1]
    if (id !== undefined) {
      const body = shown(decodeURIComponent(id), faults.lag_ms)
      return body === null ? { status: 404, body: {} } : { status: 200, body }
    }
    if (path !== '/api/private/transactions/export') return { status: 404, body: {} }
    if (faults.locked_out || headers.authorization !== authorization) return { status: 401, body: {} }
    return exported(query, faults)
  }

  function exported(query: URLSearchParams, faults: Faults): FakeAnswer {
    const start = Number(query.get('cursor') ?? 0)
    if (faults.list_breaks && start > 0) return { status: 500, body: {} }
    const after_ms = Date.parse(query.get('createdAfter') ?? '1970-01-01T00:00:00Z')
    const rows = [...payments].flatMap(([id, [first]]) =>
      first!.made_s * 1000 > after_ms ? (shown(id, faults.lag_ms) ?? []) : [],
    )
    const end = start + Number(query.get('limit') ?? 100)
    const hasMore = end < rows.length
    return {
      status: 200,
      body: { data: rows.slice(start, end), hasMore, nextCursor: hasMore ? `${end}` : null },
    }
  }

  const server = await startFakeServer(answer)
  return {
    ...server,
    messages,
    setPayment: (payment) => {
      const versions = payments.get(payment.payment) ?? []
      payments.set(payment.payment, versions)
      const at_s = Math.floor(now_ms() / 1000)
      versions.push({ from_ms: now_ms(), made_s: versions[0]?.made_s ?? at_s, payment })
      const event = EVENTS[payment.state]
      if (event !== undefined) messages.push(yolfiBody({ ...payment, event, live: true, at_s }))
    },
  }
}
