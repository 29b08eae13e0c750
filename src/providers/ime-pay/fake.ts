import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { FakeWallet } from '../fake-wallet.ts'
import { textIn } from '../field.ts'
import { parseJsonLexemes } from '../json-lexeme.ts'
import { paisaOf, rupeesText } from '../rupees.ts'
import { imePayReturn } from './sample.ts'

export interface FakeImePayOptions {
  readonly merchantCode?: string | undefined
  readonly apiUser?: string | undefined
  readonly password?: string | undefined
  /** The clock, Unix milliseconds; only for reads that lag. Default: the machine's. */
  readonly now_ms?: (() => number) | undefined
}

export interface FakeImePay extends FakeServer {
  /** Opens a payment (`RefId~TokenId`) without GetToken. */
  open(payment: string, amount_minor: bigint): void
  /** Sets the response code of a payment: `0` paid, `1` failed, `3` canceled, others as they are. */
  change(payment: string, code: string): void
  /** True when the payment was confirmed. */
  isConfirmed(payment: string): boolean
  /** The query that the buyer's browser brings back now. */
  returnOf(payment: string): string
}

/** What Recheck says before the buyer has done anything; the real code is not documented. */
const UNTOUCHED = '4'
/** Looks like IME Pay's tokens: more digits than a number can hold. */
const FIRST_TOKEN = 202603031012345678n

/** A stand-in for IME Pay's web checkout API: GetToken, Confirm, Recheck. */
export async function startFakeImePay(options: FakeImePayOptions = {}): Promise<FakeImePay> {
  const { merchantCode = 'TESTMERCH', apiUser = 'apiuser', password = 'apipass' } = options
  const basic = `Basic ${Buffer.from(`${apiUser}:${password}`).toString('base64')}`
  const wallet = new FakeWallet<string>(options.now_ms ?? Date.now)
  const confirmed = new Set<string>()
  let tokens = 0n
  const server = await startFakeServer((request, faults) => {
    if (faults.locked_out || request.headers.authorization !== basic) return { status: 401 }
    const payload = parseJsonLexemes(request.body)
    if (textIn(payload, 'MerchantCode') !== merchantCode) return coded('1', {})
    return route(request, payload, faults)
  })

  function route({ path }: FakeRequest, payload: unknown, faults: Faults): FakeAnswer {
    const RefId = textIn(payload, 'RefId') ?? ''
    const payment = `${RefId}~${textIn(payload, 'TokenId') ?? ''}`
    if (path === '/api/Web/GetToken') return giveToken(RefId, paisaOf(textIn(payload, 'Amount'), 'Amount'))
    if (path === '/api/Web/Recheck') return tell(payment, faults.lag_ms)
    if (path !== '/api/Web/Confirm') return { status: 404 }
    if (wallet.read(payment, 0)?.state === '0') confirmed.add(payment)
    return tell(payment, 0)
  }

  function giveToken(RefId: string, amount_minor: bigint): FakeAnswer {
    if (wallet.ids.some((id) => id.startsWith(`${RefId}~`))) return coded('1', { RefId })
    const token = FIRST_TOKEN + tokens
    tokens += 1n
    wallet.open(`${RefId}~${token}`, amount_minor, UNTOUCHED)
    const members = `"TokenId":${token},"Amount":${rupeesText(amount_minor)}00,"RefId":${JSON.stringify(RefId)}`
    // By hand: the token is a bare number of 18 digits.
    return json(`{"ResponseCode":0,"ResponseDescription":"Success",${members}}`)
  }

  function tell(payment: string, lag_ms: number): FakeAnswer {
    const [RefId, TokenId] = payment.split('~')
    const state = wallet.read(payment, lag_ms)?.state ?? UNTOUCHED
    const TransactionId = state === '0' ? transactionOf(payment) : '0'
    return coded(state, { TransactionId, Msisdn: '9800000000', RefId, TokenId })
  }

  return {
    ...server,
    open: (payment, amount_minor) => void wallet.open(payment, amount_minor, UNTOUCHED),
    change: (payment, code) => wallet.change(payment, code),
    isConfirmed: (payment) => confirmed.has(payment),
    returnOf(payment) {
      const known = wallet.read(payment, 0)
      if (known === null) throw new Error(`The stand-in has no payment ${payment}.`)
      return imePayReturn({
        payment,
        amount_minor: known.amount_minor,
        code: known.state,
        transaction: transactionOf(payment),
      })
    },
  }
}

function coded(code: string, members: object): FakeAnswer {
  return { status: 200, body: { ResponseCode: Number(code), ResponseDescription: '', ...members } }
}

function json(body: string): FakeAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}

function transactionOf(payment: string): string {
  return payment.slice(-8)
}
