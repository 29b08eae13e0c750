import { createHash } from 'node:crypto'
import type { SampleMaker, SampleMessage } from '../sample-maker.ts'

/** What a return says. */
export interface KhaltiReturn {
  /** The pidx. */
  readonly payment: string
  /** Paisa. */
  readonly amount_minor: bigint
  readonly order?: string | undefined
  /** Default `Completed`. */
  readonly status?: string | undefined
  /** Khalti's id of the payment. Default: follows from the pidx; empty when nothing was paid. */
  readonly transaction?: string | undefined
}

/** The query with which Khalti sends a browser to `return_url`. Nothing in it is signed. */
export function khaltiReturn({
  payment,
  amount_minor,
  order,
  status = 'Completed',
  transaction,
}: KhaltiReturn): string {
  const paid = transaction ?? (status === 'Completed' ? transactionOf(payment) : '')
  return new URLSearchParams({
    pidx: payment,
    transaction_id: paid,
    tidx: paid,
    txnId: paid,
    amount: `${amount_minor}`,
    total_amount: `${amount_minor}`,
    mobile: '98XXXXX001',
    status,
    purchase_order_id: order ?? 'A-2044',
    purchase_order_name: order ?? 'A-2044',
  }).toString()
}

/** An id in the form of Khalti's, the same for the same pidx. */
export function transactionOf(pidx: string): string {
  return idFrom(`transaction of ${pidx}`)
}

/** 22 letters and digits. */
export function idFrom(seed: string): string {
  return createHash('sha256')
    .update(seed)
    .digest('base64')
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 22)
}

/** Browsers bring these to `/return/<endpoint>`; nothing of Khalti's comes to `/webhooks`. */
export const samples: SampleMaker = {
  events: ['Completed', 'User canceled'],
  steps: { paid: ['Completed'] },
  currency: 'NPR',
  payment: (seed) => idFrom(`pidx of ${seed}`),
  make({ payment, amount_minor, paid_minor, order, event }): SampleMessage {
    const query = khaltiReturn({ payment, amount_minor: paid_minor ?? amount_minor, order, status: event })
    return { method: 'GET', query, headers: {}, body: '' }
  },
}
