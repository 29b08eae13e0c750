import type { Queryable, Statement } from '../database.ts'

// An item that stands there with another content gives no row back.
const NOTE: Statement = {
  name: 'note-listed-items',
  text: `
    insert into reconciliation_items (bucket, reconciliation_id, kind, item_id, class, digest)
    select $1, $2, $3, i.item_id, i.class, i.digest
    from unnest($4::text[], $5::text[], $6::bytea[]) as i(item_id, class, digest)
    on conflict (reconciliation_id, item_id, kind, bucket) do update set class = excluded.class
      where reconciliation_items.digest = excluded.digest
    returning item_id`,
}

const CLASSIFY: Statement = {
  name: 'classify-listed-items',
  text: `
    update reconciliation_items set class = i.class
    from unnest($4::text[], $5::text[]) as i(item_id, class)
    where reconciliation_items.item_id = i.item_id and reconciliation_items.reconciliation_id = $2
      and reconciliation_items.kind = $3 and reconciliation_items.bucket = $1`,
}

const COUNT: Statement = {
  name: 'count-listed-items',
  text: `
    select kind, class, count(*) as items from reconciliation_items
    where reconciliation_id = $2 and bucket = $1 group by kind, class order by kind, class`,
}

const FORGET: Statement = {
  name: 'forget-listed-items',
  text: `
    with gone as (
      select item_id, kind from reconciliation_items
      where reconciliation_id = $2 and ($3::text is null or kind = $3) and bucket = $1 limit $4
    )
    delete from reconciliation_items i using gone g
    where i.item_id = g.item_id and i.kind = g.kind and i.reconciliation_id = $2 and i.bucket = $1
    returning 1`,
}

export interface ListedNote {
  readonly item_id: string
  readonly class: string
  /** Of what must not differ when the item is listed again. */
  readonly digest: Buffer
}

/** Notes what a run has listed, each id once. Gives the ids that were not there with another content. */
export async function noteListedItems(
  db: Queryable,
  bucket: number,
  run: bigint,
  kind: string,
  items: readonly ListedNote[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ item_id: string }>(NOTE, [
    bucket,
    run,
    kind,
    items.map((item) => item.item_id),
    items.map((item) => item.class),
    items.map((item) => item.digest),
  ])
  return new Set(rows.map((row) => row.item_id))
}

/** Corrects the class of items that were noted. */
export async function classifyListedItems(
  db: Queryable,
  bucket: number,
  run: bigint,
  kind: string,
  items: readonly Pick<ListedNote, 'item_id' | 'class'>[],
): Promise<void> {
  await db.query(CLASSIFY, [
    bucket,
    run,
    kind,
    items.map((item) => item.item_id),
    items.map((item) => item.class),
  ])
}

export function countListedItems(
  db: Queryable,
  bucket: number,
  run: bigint,
): Promise<{ kind: string; class: string; items: bigint }[]> {
  return db.query(COUNT, [bucket, run])
}

/** Forgets what a run has listed, of one kind or of all, so many rows per statement. */
export async function forgetListedItems(
  db: Queryable,
  bucket: number,
  run: bigint,
  kind: string | null,
): Promise<void> {
  const limit = 10_000
  for (;;) {
    const rows = await db.query(FORGET, [bucket, run, kind, limit])
    if (rows.length < limit) return
  }
}
