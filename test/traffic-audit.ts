import type { Database } from '../src/store/database.ts'
import type { Traffic } from './traffic.ts'

/** What the database holds of this traffic and what it must hold: nothing lost, doubled or half done. */
export async function auditTraffic(database: Database, { prefix, bodies, orders }: Traffic) {
  const count = async (from: string) => {
    const text = `select count(*)::int as count from ${from}`
    const [row] = await database.query<{ count: number }>({ name: '', text })
    return row!.count
  }
  const mine = `like 'pi\\_${prefix}\\_%'`
  const refunded = orders.filter((_, index) => index % 4 === 0).length
  const of_orders = `join orders o on o.id = x.order_id and o.reference like '${prefix}-%'`
  const effects = `effects where subject_kind = 'order' and subject_key like '${prefix}-%'`
  const events = `events e where exists (select 1 from witnesses w join facts f on f.id = w.fact_id
    join payments p on p.id = f.subject_id where w.source_id = e.id and w.source_kind = 'event' and p.provider_payment_id ${mine})`
  const found = {
    events: await count(events),
    payments: await count(`payments where provider_payment_id ${mine} and captured_minor = 2000`),
    refunds: await count(
      `refunds where provider_refund_id like 're\\_${prefix}\\_%' and status = 'succeeded'`,
    ),
    granted: await count(`entitlements x ${of_orders} where x.state = 'granted'`),
    taken_back: await count(
      `orders where reference like '${prefix}-%' and status = 'refunded' and net_minor = 0`,
    ),
    doubled: await count(
      `(select 1 from ${effects} and topic <> 'exception.opened' group by subject_key, topic, item, cause having count(*) > 1) d`,
    ),
    receipts: await count(
      `(select 1 from ${effects} and topic = 'receipt.due' group by subject_key having count(*) > 1) d`,
    ),
    unsettled: await count('unsettled'),
    orphans: await count('facts f where not exists (select 1 from witnesses w where w.fact_id = f.id)'),
    unsaid: await count(
      `entitlements x ${of_orders} where x.revision > 0 and not exists (select 1 from effects e where e.subject_id = o.id
       and e.item = x.item and e.revision = x.revision)`,
    ),
    lost: await count(
      `events e where e.state = 'settled' and not exists (select 1 from witnesses w where w.source_id = e.id)`,
    ),
  }
  const wanted = {
    events: new Set(bodies).size,
    payments: orders.length,
    refunds: refunded,
    granted: orders.length - refunded,
    taken_back: refunded,
    doubled: 0,
    receipts: 0,
    unsettled: 0,
    orphans: 0,
    unsaid: 0,
    lost: 0,
  }
  return { found, wanted }
}
