import type { Outcome } from './history/history.ts'
import type { Merchant } from './merchant.ts'

interface PaymentLine {
  id: string
  status: Outcome['payments'][string]['status']
  captured_minor: string
  refunded_minor: string
  refund_pending_minor: string
  disputed_minor: string
  lost_minor: string
  reversed_minor: string
}

interface OrderLine {
  reference: string
  status: Outcome['orders'][string]['status']
  paid_minor: string
  net_minor: string
  surplus_minor: string
  access: Outcome['orders'][string]['access'] | null
  credits: number
}

interface SubscriptionLine {
  id: string
  status: Outcome['subscriptions'][string]['status']
  period_end: Date | null
}

/** What stands in the derived rows of a merchant, in the words in which a history says how it must end. */
export async function readOutcome(merchant: Merchant): Promise<Outcome> {
  const payments = await merchant.rows<PaymentLine>(
    `select provider_payment_id as id, status, captured_minor, refunded_minor, refund_pending_minor, disputed_minor,
       lost_minor, reversed_minor
     from payments where tenant = $1 and status <> 'linked'`,
    [merchant.tenant],
  )
  const orders = await merchant.rows<OrderLine>(
    `select o.reference, o.status, o.paid_minor, o.net_minor, o.surplus_minor,
       (select min(e.state) from entitlements e where e.order_id = o.id) as access,
       (select coalesce(sum(e.quantity), 0)::int from entitlements e
         where e.order_id = o.id and e.item like '%:credits' and e.state = 'granted') as credits
     from orders o where o.tenant = $1`,
    [merchant.tenant],
  )
  const subscriptions = await merchant.rows<SubscriptionLine>(
    `select provider_subscription_id as id, status, period_end from subscriptions where tenant = $1`,
    [merchant.tenant],
  )
  return {
    payments: Object.fromEntries(payments.map(({ id, status, ...sums }) => [id, { status, ...minor(sums) }])),
    orders: Object.fromEntries(
      orders.map(({ reference, status, access, credits, ...sums }) => [
        reference,
        { status, ...minor(sums), access: access ?? ('none' as const), credits },
      ]),
    ),
    subscriptions: Object.fromEntries(
      subscriptions.map(({ id, status, period_end }) => [
        id,
        { status, period_end: period_end?.toISOString().replace('.000Z', 'Z') ?? null },
      ]),
    ),
  }
}

function minor<K extends string>(sums: Record<K, string>): Record<K, bigint> {
  return Object.fromEntries(
    Object.entries(sums).map(([name, value]) => [name, BigInt(value as string)]),
  ) as Record<K, bigint>
}
