import { rupeesText } from '../rupees.ts'
import type { SampleMaker, SampleMessage } from '../sample-maker.ts'
import { RETURN_NAMES } from './return-data.ts'
import { digestOf, signedText } from './signed-text.ts'

/** What a success redirect says. */
export interface EsewaReturn {
  /** Our attempt: the `transaction_uuid`. */
  readonly payment: string
  /** Paisa. */
  readonly amount_minor: bigint
  /** eSewa's id of the payment. Default `0009TST`. */
  readonly transaction_code?: string | undefined
  /** Default `COMPLETE`. */
  readonly status?: string | undefined
  /** Default `EPAYTEST`. */
  readonly productCode?: string | undefined
  /** How the amount is written: `"2,700.0"`, or the bare JSON number `2700.0`. Default `text`. */
  readonly amount?: 'text' | 'number' | undefined
}

/** The query with which eSewa sends a browser to `success_url`, signed. */
export function esewaReturn(told: EsewaReturn, secret: string): string {
  const lexeme = amountLexeme(told.amount_minor, told.amount === 'number' ? '' : ',')
  const values: Record<string, string> = {
    transaction_code: told.transaction_code ?? '0009TST',
    status: told.status ?? 'COMPLETE',
    total_amount: lexeme,
    transaction_uuid: told.payment,
    product_code: told.productCode ?? 'EPAYTEST',
    signed_field_names: RETURN_NAMES.join(','),
  }
  const signature = digestOf(signedText(RETURN_NAMES, values), Buffer.from(secret, 'utf8')).toString('base64')
  const members = Object.entries({ ...values, signature }).map(([name, value]) => {
    const bare = name === 'total_amount' && told.amount === 'number'
    return `${JSON.stringify(name)}:${bare ? value : JSON.stringify(value)}`
  })
  return `data=${encodeURIComponent(Buffer.from(`{${members.join(',')}}`).toString('base64'))}`
}

/** With one decimal where one is enough, as eSewa writes amounts. */
export function amountLexeme(amount_minor: bigint, separator: string): string {
  const [whole = '', fraction = ''] = rupeesText(amount_minor).split('.')
  const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, separator)
  return `${grouped}.${fraction.replace(/0$/, '')}`
}

/** Signs the data of a body again with another secret; what is no such body stays as it is. */
export function resigned(body: Uint8Array, secret: string): Buffer {
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'))
  const text = Buffer.from(form.get('data') ?? '', 'base64').toString('utf8')
  const bare = /"total_amount":[0-9]/.test(text)
  const values = bare ? quoted(text) : text
  try {
    const told = JSON.parse(values)
    const names = told.signed_field_names.split(',')
    const signature = digestOf(signedText(names, told), Buffer.from(secret, 'utf8')).toString('base64')
    const signed = text.replace(/("signature":")[^"]*/, (_, name) => `${name}${signature}`)
    form.set('data', Buffer.from(signed).toString('base64'))
    return Buffer.from(form.toString())
  } catch {
    return Buffer.from(body)
  }
}

function quoted(text: string): string {
  return text.replace(/("total_amount":)([0-9.]+)/, '$1"$2"')
}

/** Browsers bring these to `/return/<endpoint>`; nothing of eSewa's comes to `/webhooks`. */
export const samples: SampleMaker = {
  events: ['COMPLETE'],
  steps: { paid: ['COMPLETE'] },
  currency: 'NPR',
  payment: (seed) => `attempt-${seed.replace(/[^A-Za-z0-9]/g, '')}`,
  make(wish, secret): SampleMessage {
    const query = esewaReturn(
      { payment: wish.payment, amount_minor: wish.paid_minor ?? wish.amount_minor, status: wish.event },
      secret,
    )
    return { method: 'GET', query, headers: {}, body: '' }
  },
}
