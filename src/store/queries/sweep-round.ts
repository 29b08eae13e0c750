import type { Queryable, Statement } from '../database.ts'

// The first process whose update finds the time come has the turn; the others find it gone.
const TAKE: Statement = {
  name: 'take-sweep-round',
  text: `
    insert into sweep_rounds (bucket, sweep, due_at, position) values ($1, $2, $4, 0)
    on conflict (sweep, bucket) do update set due_at = excluded.due_at where sweep_rounds.due_at <= $3
    returning position`,
}

const MOVE: Statement = {
  name: 'move-sweep',
  text: 'update sweep_rounds set position = $3 where sweep = $2 and bucket = $1',
}

const UNDER_WAY: Statement = {
  name: 'list-payments-under-way',
  text: `
    with walked as (select * from payments where id > $2 and bucket = $1 order by id limit $6),
    reached as (select max(id) as reached, count(*) as walked from walked)
    select r.reached, r.walked, u.* from reached r left join (
      select p.id, p.tenant, p.namespace, p.account, p.provider_payment_id,
        p.updated_at <= $3 and not exists (
          select 1 from lookups l
          where l.object_id = p.provider_payment_id and l.object = 'payment' and l.namespace = p.namespace
            and l.account = p.account and l.tenant = p.tenant and l.bucket = $1
            and (l.due_at is not null or l.asked_for_at > $4)
        ) as to_ask
      from walked p
      where p.status in ('unknown', 'created', 'requires_action', 'pending', 'authorized') and p.linked_to is null
        and p.created_at > $5
    ) u on true
    order by u.id`,
}

const PARKED: Statement = {
  name: 'list-parked-orders',
  text: `
    with walked as (select id, tenant, reference, status, created_at from orders where id > $2 and bucket = $1 order by id limit $4),
    reached as (select max(id) as reached, count(*) as walked from walked)
    select r.reached, r.walked, u.* from reached r left join (
      select id, tenant, reference from walked where status = 'awaiting_terms' and created_at > $3
    ) u on true
    order by u.id`,
}

/** Takes the turn of a sweep and puts the next one off until `next_due`; null when it is not due. Gives where to begin. */
export async function takeSweepRound(
  db: Queryable,
  bucket: number,
  sweep: string,
  now: Date,
  next_due: Date,
): Promise<bigint | null> {
  const [row] = await db.query<{ position: bigint }>(TAKE, [bucket, sweep, now, next_due])
  return row?.position ?? null
}

/** Nothing below this id needs to be looked at again. */
export async function moveSweep(
  db: Queryable,
  bucket: number,
  sweep: string,
  position: bigint,
): Promise<void> {
  await db.query(MOVE, [bucket, sweep, position])
}

const PART = 5_000

/** One part of a table that was walked. */
export interface SweptPart<Row> {
  readonly rows: readonly Row[]
  /** Where the next part begins; null when this was the last. */
  readonly next: bigint | null
}

export interface PaymentUnderWay {
  readonly id: bigint
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly provider_payment_id: string
  /** It has stood still and nobody is asking about it. */
  readonly to_ask: boolean
}

/** Payments that are under way and not older than `born_after`, those of a bounded part of the table after `after`. */
export async function listPaymentsUnderWay(
  db: Queryable,
  bucket: number,
  after: bigint,
  times: { readonly still_since: Date; readonly asked_before: Date; readonly born_after: Date },
): Promise<SweptPart<PaymentUnderWay>> {
  const { still_since, asked_before, born_after } = times
  return partOf(
    await db.query<Walked & PaymentUnderWay>(UNDER_WAY, [
      bucket,
      after,
      still_since,
      asked_before,
      born_after,
      PART,
    ]),
  )
}

export interface ParkedOrder {
  readonly id: bigint
  readonly tenant: string
  readonly reference: string
}

/** Orders that something refers to and nobody has registered. */
export async function listParkedOrders(
  db: Queryable,
  bucket: number,
  after: bigint,
  born_after: Date,
): Promise<SweptPart<ParkedOrder>> {
  return partOf(await db.query<Walked & ParkedOrder>(PARKED, [bucket, after, born_after, PART]))
}

interface Walked {
  readonly reached: bigint | null
  readonly walked: bigint
}

function partOf<Row extends { readonly id: bigint | null }>(rows: readonly (Row & Walked)[]): SweptPart<Row> {
  const { reached, walked } = rows[0]!
  return { rows: rows.filter((row) => row.id !== null), next: walked < PART ? null : reached }
}
