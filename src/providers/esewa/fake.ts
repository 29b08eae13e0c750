import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { FakeWallet } from '../fake-wallet.ts'
import { paisaOf } from '../rupees.ts'
import { amountLexeme, esewaReturn } from './sample.ts'
import { digestOf, signedText } from './signed-text.ts'

export interface FakeEsewaOptions {
  /** Default `EPAYTEST`. */
  readonly productCode?: string | undefined
  /** Default: the published secret of the test environment. */
  readonly secret?: string | undefined
  /** The clock, Unix milliseconds; only for reads that lag. Default: the machine's. */
  readonly now_ms?: (() => number) | undefined
}

export interface FakeEsewa extends FakeServer {
  readonly secret: string
  /** Opens a payment without a form, as if the buyer had posted one. */
  open(payment: string, amount_minor: bigint): void
  /** Sets the status of a payment, for example `COMPLETE` or `PARTIAL_REFUND`. */
  change(payment: string, status: string): void
  /** The query that the buyer's browser brings to `success_url` now. */
  returnOf(payment: string): string
}

/** A stand-in for eSewa: the form and the transaction status API. */
export async function startFakeEsewa(options: FakeEsewaOptions = {}): Promise<FakeEsewa> {
  const productCode = options.productCode ?? 'EPAYTEST'
  const secret = options.secret ?? '8gBm/:&EnhH.1/q'
  const wallet = new FakeWallet<string>(options.now_ms ?? Date.now)
  const server = await startFakeServer((request, faults) => {
    if (faults.locked_out) return { status: 403, body: '<html>Forbidden</html>' }
    if (request.method === 'POST' && request.path === '/api/epay/main/v2/form') return takeForm(request)
    if (request.method === 'GET' && request.path === '/api/epay/transaction/status/') {
      return tellStatus(request, faults)
    }
    return { status: 404, body: '<html>Not Found</html>' }
  })

  function takeForm(request: FakeRequest): FakeAnswer {
    const form = Object.fromEntries(new URLSearchParams(request.body.toString('utf8')))
    const names = (form.signed_field_names ?? '').split(',')
    const signature = digestOf(signedText(names, form), Buffer.from(secret)).toString('base64')
    if (signature !== form.signature || form.product_code !== productCode) {
      return { status: 400, body: { code: 'ES104', message: 'Invalid payload signature.' } }
    }
    if (!wallet.open(form.transaction_uuid ?? '', paisaOf(form.total_amount, 'total_amount'), 'PENDING')) {
      return { status: 409, body: { code: 409, error_message: 'Duplicate transaction UUID.' } }
    }
    return { status: 200, body: '<html>eSewa</html>' }
  }

  function tellStatus({ query }: FakeRequest, faults: Faults): FakeAnswer {
    const [payment, total = '', code] = ['transaction_uuid', 'total_amount', 'product_code'].map(
      (name) => query.get(name) ?? '',
    )
    const known = wallet.read(payment!, faults.lag_ms)
    const asked =
      known !== null && code === productCode && paisaOf(total, 'total_amount') === known.amount_minor
    const status = asked ? known.state : 'NOT_FOUND'
    const ref_id = ['COMPLETE', 'FULL_REFUND', 'PARTIAL_REFUND'].includes(status) ? refOf(payment!) : null
    const amount = known === null ? '0.0' : amountLexeme(known.amount_minor, '')
    // By hand, since the amount is a bare number that keeps its zero.
    const text = `{"product_code":${JSON.stringify(code)},"transaction_uuid":${JSON.stringify(payment)},"total_amount":${amount},"status":${JSON.stringify(status)},"ref_id":${JSON.stringify(ref_id)}}`
    return { status: 200, headers: { 'content-type': 'application/json' }, body: text }
  }

  return {
    ...server,
    secret,
    open: (payment, amount_minor) => void wallet.open(payment, amount_minor, 'PENDING'),
    change: (payment, status) => wallet.change(payment, status),
    returnOf(payment) {
      const known = wallet.read(payment, 0)
      if (known === null) throw new Error(`The stand-in has no payment ${payment}.`)
      const { amount_minor, state } = known
      return esewaReturn(
        {
          payment,
          amount_minor,
          status: state,
          transaction_code: refOf(payment),
          productCode,
          amount: 'number',
        },
        secret,
      )
    },
  }
}

function refOf(payment: string): string {
  return `REF${payment.replace(/[^A-Za-z0-9]/g, '')}`.toUpperCase()
}
