import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { FakeWallet } from '../fake-wallet.ts'
import { fieldIn, textIn } from '../field.ts'
import { idFrom, khaltiReturn, transactionOf } from './sample.ts'

export interface FakeKhaltiOptions {
  readonly secretKey?: string | undefined
  /** The clock, Unix milliseconds; only for reads that lag. Default: the machine's. */
  readonly now_ms?: (() => number) | undefined
}

export interface FakeKhalti extends FakeServer {
  readonly secretKey: string
  /** Opens a payment without `initiate`. */
  open(pidx: string, amount_minor: bigint): void
  /** Sets the status of a payment, for example `Completed` or `Expired`. */
  change(pidx: string, status: string): void
  /** The query that the buyer's browser brings to `return_url` now. */
  returnOf(pidx: string): string
}

/** These come with HTTP 400, though they are answers. */
const WITH_400 = ['Expired', 'User canceled']
const PAID = ['Completed', 'Refunded', 'Partially Refunded']

/** A stand-in for Khalti: initiate, lookup and refund. */
export async function startFakeKhalti(options: FakeKhaltiOptions = {}): Promise<FakeKhalti> {
  const secretKey = options.secretKey ?? 'test-key-of-the-stand-in'
  const wallet = new FakeWallet<string>(options.now_ms ?? Date.now)
  const server = await startFakeServer((request, faults) => {
    if (faults.locked_out || request.headers.authorization !== `Key ${secretKey}`) {
      return { status: 401, body: { detail: 'Invalid token.', status_code: 401 } }
    }
    if (request.method !== 'POST') return { status: 405, body: { detail: 'Method not allowed.' } }
    return route(request, faults)
  })

  function route({ path, body }: FakeRequest, faults: Faults): FakeAnswer {
    const refund = /^\/api\/merchant-transaction\/([^/]+)\/refund\/$/.exec(path)
    if (refund) return giveBack(refund[1]!)
    const payload: unknown = JSON.parse(body.toString('utf8'))
    if (path === '/api/v2/epayment/initiate/') return initiate(payload)
    if (path === '/api/v2/epayment/lookup/') return lookUp(textIn(payload, 'pidx') ?? '', faults)
    return { status: 404, body: { detail: 'Not found.' } }
  }

  function initiate(payload: unknown): FakeAnswer {
    const amount = fieldIn(payload, 'amount')
    if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 1000) {
      return {
        status: 400,
        body: { amount: ['Amount should be greater than Rs. 10.'], error_key: 'validation_error' },
      }
    }
    const pidx = idFrom(`${wallet.ids.length} ${textIn(payload, 'purchase_order_id')}`)
    wallet.open(pidx, BigInt(amount), 'Initiated')
    const payment_url = `https://test-pay.khalti.com/?pidx=${pidx}`
    return { status: 200, body: { pidx, payment_url, expires_in: 1800 } }
  }

  function lookUp(pidx: string, { lag_ms }: Faults): FakeAnswer {
    const known = wallet.read(pidx, lag_ms)
    if (known === null) return { status: 404, body: { detail: 'Not found.', error_key: 'validation_error' } }
    const { state: status, amount_minor } = known
    const paid = PAID.includes(status)
    return {
      status: WITH_400.includes(status) ? 400 : 200,
      body: {
        pidx,
        total_amount: Number(amount_minor),
        status,
        transaction_id: paid ? transactionOf(pidx) : null,
        fee: 0,
        refunded: status === 'Refunded' || status === 'Partially Refunded',
      },
    }
  }

  function giveBack(transaction: string): FakeAnswer {
    const pidx = wallet.ids.find((id) => transactionOf(id) === transaction)
    if (pidx === undefined) return { status: 404, body: { detail: 'Not found.' } }
    if (wallet.read(pidx, 0)?.state !== 'Completed') {
      return { status: 400, body: { detail: 'Transaction cannot be refunded.' } }
    }
    wallet.change(pidx, 'Refunded')
    return { status: 200, body: { detail: 'Transaction refund successful.' } }
  }

  return {
    ...server,
    secretKey,
    open: (pidx, amount_minor) => void wallet.open(pidx, amount_minor, 'Initiated'),
    change: (pidx, status) => wallet.change(pidx, status),
    returnOf(pidx) {
      const known = wallet.read(pidx, 0)
      if (known === null) throw new Error(`The stand-in has no payment ${pidx}.`)
      return khaltiReturn({ payment: pidx, amount_minor: known.amount_minor, status: known.state })
    },
  }
}
