import type { Queryable, Statement } from '../database.ts'

const SUM: Statement = {
  name: 'sum-payments',
  text: `
    select currency, sum(captured_minor) as captured_minor, sum(refunded_minor) as refunded_minor,
      sum(lost_minor) as lost_minor, sum(reversed_minor) as reversed_minor, sum(disputed_minor) as disputed_minor
    from payments where currency is not null and status <> 'linked' and bucket = $1
    group by currency order by currency`,
}

/** What all payments of one currency add up to, minor units as decimal text. */
export interface CurrencySums {
  readonly currency: string
  readonly captured_minor: string
  readonly refunded_minor: string
  readonly lost_minor: string
  readonly reversed_minor: string
  readonly disputed_minor: string
}

export function sumPayments(db: Queryable, bucket: number): Promise<CurrencySums[]> {
  return db.query<CurrencySums>(SUM, [bucket])
}
