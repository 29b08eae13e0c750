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

const COUNT: Statement = {
  name: 'count-listed-items',
  text: `
    select kind, class, count(*) as items from reconciliation_items
    where reconciliation_id = $2 and bucket = $1 group by kind, class order by kind, class`,
}

// In parts of the key, so that no statement runs for long.
const REACHED: Statement = {
  name: 'reach-listed-items',
  text: `
    select item_id from reconciliation_items
    where reconciliation_id = $2 and item_id > $3 and bucket = $1 order by item_id offset 9999 limit 1`,
}

const FORGET: Statement = {
  name: 'forget-listed-items',
  text: `
    delete from reconciliation_items
    where reconciliation_id = $2 and ($3::text is null or kind = $3) and item_id > $4
      and ($5::text is null or item_id <= $5) and bucket = $1`,
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

export function countListedItems(
  db: Queryable,
  bucket: number,
  run: bigint,
): Promise<{ kind: string; class: string; items: bigint }[]> {
  return db.query(COUNT, [bucket, run])
}

/** Forgets what a run has listed, of one kind or of all. */
export async function forgetListedItems(
  db: Queryable,
  bucket: number,
  run: bigint,
  kind: string | null,
): Promise<void> {
  for (let after: string | null = ''; after !== null; ) {
    const rows: { item_id: string }[] = await db.query(REACHED, [bucket, run, after])
    const to: string | null = rows[0]?.item_id ?? null
    await db.query(FORGET, [bucket, run, kind, after, to])
    after = to
  }
}
