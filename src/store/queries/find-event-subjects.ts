import type { Subject } from '../../facts/subject.ts'
import type { Queryable, Statement } from '../database.ts'

const FIND: Statement = {
  name: 'find-event-subjects',
  text: `
    select distinct w.source_id as event_id, f.subject_kind as kind,
      coalesce(p.namespace, s.namespace) as namespace, coalesce(p.account, s.account) as account,
      coalesce(p.provider_payment_id, s.provider_subscription_id, o.reference) as id
    from witnesses w
      join facts f on f.id = w.fact_id and f.bucket = $1
      left join payments p on f.subject_kind = 'payment' and p.id = f.subject_id and p.bucket = $1
      left join subscriptions s on f.subject_kind = 'subscription' and s.id = f.subject_id and s.bucket = $1
      left join orders o on f.subject_kind = 'order' and o.id = f.subject_id and o.bucket = $1
    where w.source_kind = 'event' and w.source_id = any($2::bigint[]) and w.bucket = $1`,
}

/** What each of these events has told facts about, by the names that settling knows. */
export async function findEventSubjects(
  db: Queryable,
  bucket: number,
  event_ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, readonly Subject[]>> {
  const rows = await db.query<{
    event_id: bigint
    kind: Subject['kind']
    namespace: string
    account: string
    id: string
  }>(FIND, [bucket, event_ids])
  const subjects = new Map<bigint, Subject[]>(event_ids.map((id) => [id, []]))
  for (const { event_id, kind, namespace, account, id } of rows) {
    const subject: Subject = kind === 'order' ? { kind, reference: id } : { kind, namespace, account, id }
    subjects.get(event_id)!.push(subject)
  }
  return subjects
}
