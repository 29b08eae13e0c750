import type { OperationKind, OperationState } from '../../rules/operation-state.ts'
import type { Queryable, Statement } from '../database.ts'
import { OPERATION_COLUMNS, type OperationRow } from './operation-row.ts'

const LIST: Statement = {
  name: 'list-operations',
  text: `
    select ${OPERATION_COLUMNS} from operations o
    where o.bucket = $1 and ($2::text is null or o.tenant = $2) and ($3::text[] is null or o.state = any($3))
      and ($4::text is null or o.kind = $4) and ($5::text is null or o.provider_payment_id = $5)
      and ($6::text is null or o.order_ref = $6) and ($7::bigint is null or o.id < $7)
    order by o.id desc limit $8`,
}

export interface OperationFilter {
  readonly tenant?: string | undefined
  readonly states?: readonly OperationState[] | undefined
  readonly kind?: OperationKind | undefined
  /** The provider's payment id. */
  readonly payment?: string | undefined
  /** Charges of this order. */
  readonly order?: string | undefined
  /** Only older ones than this id. */
  readonly before?: bigint | undefined
  readonly limit: number
}

/** Operations, newest first. */
export function listOperations(
  db: Queryable,
  bucket: number,
  filter: OperationFilter,
): Promise<OperationRow[]> {
  return db.query<OperationRow>(LIST, [
    bucket,
    filter.tenant ?? null,
    filter.states ?? null,
    filter.kind ?? null,
    filter.payment ?? null,
    filter.order ?? null,
    filter.before ?? null,
    filter.limit,
  ])
}
