import { createHash } from 'node:crypto'
import { rupeesText } from '../rupees.ts'
import type { SampleMaker, SampleMessage } from '../sample-maker.ts'

/** What a return says. */
export interface ImePayReturn {
  /** `RefId~TokenId` */
  readonly payment: string
  /** Paisa. */
  readonly amount_minor: bigint
  /** Default `0`: paid. `3`: canceled by the buyer. */
  readonly code?: string | undefined
  /** IME Pay's id of the payment. Default `10223344`; `0` when nothing was paid. */
  readonly transaction?: string | undefined
}

const WORDS: Readonly<Record<string, string>> = {
  0: 'Success',
  1: 'Failed',
  3: 'Operation Cancelled By User',
}

/** The query with which IME Pay sends a browser back by GET. Nothing in it is signed. */
export function imePayReturn({ payment, amount_minor, code = '0', transaction }: ImePayReturn): string {
  const [refId, tokenId] = payment.split('~')
  const paid = transaction ?? (code === '0' ? '10223344' : '0')
  const parts = [code, WORDS[code] ?? 'Error', '', paid, refId, `${rupeesText(amount_minor)}00`, tokenId]
  return `data=${encodeURIComponent(Buffer.from(parts.join('|')).toString('base64'))}`
}

/** Browsers bring these to `/return/<endpoint>`. */
export const samples: SampleMaker = {
  events: ['response.0', 'response.3'],
  steps: { paid: ['response.0'] },
  currency: 'NPR',
  payment(seed) {
    const digits = BigInt(`0x${createHash('sha256').update(seed).digest('hex').slice(0, 14)}`)
    return `${seed.replace(/[^A-Za-z0-9]/g, '').slice(0, 18)}-1~2026${`${digits}`.padStart(14, '0').slice(-14)}`
  },
  make({ payment, amount_minor, paid_minor, event = 'response.0' }): SampleMessage {
    const code = event.replace('response.', '')
    const query = imePayReturn({ payment, amount_minor: paid_minor ?? amount_minor, code })
    return { method: 'GET', query, headers: {}, body: '' }
  },
}
