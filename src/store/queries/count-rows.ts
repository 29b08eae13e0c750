import type { Queryable, Statement } from '../database.ts'

const COUNT: Statement = {
  name: 'count-audited-rows',
  text: `
    select (select count(*) from payments where bucket = $1) + (select count(*) from orders where bucket = $1)
      + (select count(*) from subscriptions where bucket = $1) + (select count(*) from rights where bucket = $1) as rows`,
}

/** How many payments, orders and subscriptions there are, to show how far a walk over them has come. */
export async function countRows(db: Queryable, bucket: number): Promise<number> {
  const [row] = await db.query<{ rows: bigint }>(COUNT, [bucket])
  return Number(row!.rows)
}
