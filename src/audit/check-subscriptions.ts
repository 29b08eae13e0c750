import type { SubscriptionSubject } from '../facts/subject.ts'
import { deriveSubscription } from '../rules/derive-subscription.ts'
import type { Queryable } from '../store/database.ts'
import type { WholeSubscriptionRow } from '../store/queries/list-subscriptions.ts'
import { compare, instant, naturalKey } from './difference.ts'
import { factsOf } from './facts-of.ts'
import { type Checked, compareExceptions } from './finding.ts'

/** Compares subscriptions and their exceptions with what their facts say. */
export async function checkSubscriptions(
  db: Queryable,
  bucket: number,
  rows: readonly WholeSubscriptionRow[],
): Promise<Checked> {
  const facts = await factsOf(db, bucket, new Map(rows.map((row) => [row.id, subject(row)])))
  const derived = rows.map((row) => ({ row, state: deriveSubscription(facts.get(row.id)!) }))
  const exceptions = await compareExceptions(
    db,
    bucket,
    derived.map(({ row, state }) => ({
      tenant: row.tenant,
      subject_kind: 'subscription',
      subject_key: [row.namespace, row.account, row.provider_subscription_id].join('/'),
      due: state.exceptions,
    })),
  )
  const findings = derived.flatMap(({ row, state }, place) => {
    const key = naturalKey(row.tenant, row.namespace, row.account, row.provider_subscription_id)
    const differences = [
      ...compare(
        'subscriptions',
        key,
        { ...row },
        {
          status: state.status,
          period_end: instant(state.period_end),
          cancel_at: instant(state.cancel_at),
          open_exceptions: state.exceptions.length,
        },
      ),
      ...exceptions.differences[place]!,
    ]
    return differences.length > 0 ? [{ id: row.id, differences }] : []
  })
  return { counts: { subscriptions: rows.length, exceptions: exceptions.open }, findings }
}

function subject(row: WholeSubscriptionRow): SubscriptionSubject {
  return {
    kind: 'subscription',
    namespace: row.namespace,
    account: row.account,
    id: row.provider_subscription_id,
  }
}
