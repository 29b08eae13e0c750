import { derivePayment } from '../rules/derive-payment.ts'
import type { PaymentState } from '../rules/payment-state.ts'
import type { Queryable } from '../store/database.ts'
import { loadStandIns } from '../store/queries/load-payments.ts'
import { type PaymentRow, subjectOf } from '../store/queries/payment-row.ts'
import { factsOf } from './facts-of.ts'

/** A payment as its facts say it is. */
export interface DerivedPayment {
  readonly row: PaymentRow
  /** What is stored of a stand-in names no order: its money, and so its order, is the other payment's. */
  readonly state: PaymentState
  readonly has_stand_ins: boolean
  /** Its own row and those of its stand-ins. */
  readonly group: readonly bigint[]
}

/** Derives payments from zero, each together with the stand-ins that are linked to it. */
export async function derivePayments(
  db: Queryable,
  bucket: number,
  rows: readonly PaymentRow[],
): Promise<ReadonlyMap<bigint, DerivedPayment>> {
  const stand_ins =
    rows.length > 0
      ? await loadStandIns(
          db,
          bucket,
          rows.map((row) => row.id),
        )
      : []
  const facts = await factsOf(
    db,
    bucket,
    new Map([...rows, ...stand_ins].map((row) => [row.id, subjectOf(row)])),
  )
  const members = new Map<bigint, bigint[]>()
  for (const { id, linked_to } of stand_ins) members.set(linked_to!, [...(members.get(linked_to!) ?? []), id])
  return new Map(
    rows.map((row) => {
      const own = facts.get(row.id)!
      const joined = members.get(row.id) ?? []
      const group = [row.id, ...joined]
      if (own.some((fact) => fact.kind === 'payment_link')) {
        const state = derivePayment(own)
        return [row.id, { row, group, has_stand_ins: row.has_stand_ins, state }]
      }
      const all = group.flatMap((id) => facts.get(id)!)
      const state = derivePayment(all, row.provider_payment_id)
      return [row.id, { row, group, has_stand_ins: joined.length > 0, state }]
    }),
  )
}
