import type { Fact } from '../facts/fact.ts'
import { derivePayment } from '../rules/derive-payment.ts'
import { linkTarget } from '../rules/link.ts'
import type { PaymentState } from '../rules/payment-state.ts'
import type { Queryable } from '../store/database.ts'
import { loadPayments, loadStandIns } from '../store/queries/load-payments.ts'
import { type ClaimRow, loadRefundClaims } from '../store/queries/load-refund-claims.ts'
import { type PaymentRow, subjectOf } from '../store/queries/payment-row.ts'
import { claimLock } from '../store/queries/refund-key.ts'
import { factsOf } from './facts-of.ts'

/** A payment as its facts say it is. */
export interface DerivedPayment {
  readonly row: PaymentRow
  /** What is stored of a stand-in names no order: its money, and so its order, is the other payment's. */
  readonly state: PaymentState
  /** The payment that its own facts link it to, whether the link holds or not. */
  readonly link_target: string | null
  readonly has_stand_ins: boolean
  /** By refund. */
  readonly tellers: ReadonlyMap<string, Tellers>
  /** Its own row and those of its stand-ins. */
  readonly group: readonly bigint[]
}

/** Who tells of a refund: as stored, and those of them whose facts do. */
export interface Tellers {
  readonly stored: readonly bigint[]
  readonly founded: readonly bigint[]
}

/**
 * Derives payments from zero, each together with the stand-ins that are linked to it. Who links to a payment is found by
 * the stored links, which are compared with the facts where the linking payment is checked; likewise who else tells of a
 * refund.
 */
export async function derivePayments(
  db: Queryable,
  bucket: number,
  rows: readonly PaymentRow[],
): Promise<ReadonlyMap<bigint, DerivedPayment>> {
  const parts = await deriveAlone(db, bucket, rows)
  const tellers = await tellersOf(db, bucket, parts)
  return new Map(
    parts.map(({ told, ...part }) => {
      const { row, state, has_stand_ins } = part
      const own = new Map(state.refunds.map(({ refund }) => [refund, tellers(row, refund)]))
      const contested = [...own].filter(([, { founded }]) => founded.some((id) => id !== row.id))
      if (contested.length === 0) return [row.id, { ...part, tellers: own }]
      const others = { claimed: has_stand_ins, contested: new Set(contested.map(([refund]) => refund)) }
      return [row.id, { ...part, tellers: own, state: derivePayment(told, row.provider_payment_id, others) }]
    }),
  )
}

type Part = Omit<DerivedPayment, 'tellers'> & { readonly told: readonly Fact[] }

/** As their own facts and those of their stand-ins say, whoever else tells of their refunds. */
async function deriveAlone(db: Queryable, bucket: number, rows: readonly PaymentRow[]): Promise<Part[]> {
  const linking = await standInsOf(db, bucket, rows)
  // A link holds only while nobody links to the one that it comes from.
  const behind = await standInsOf(db, bucket, linking)
  const all = new Map([...rows, ...linking, ...behind].map((row) => [row.id, row]))
  const facts = await factsOf(db, bucket, new Map([...all].map(([id, row]) => [id, subjectOf(row)])))
  const linked = new Map<bigint, PaymentRow[]>()
  for (const from of all.values()) {
    const to = from.linked_to === null ? undefined : all.get(from.linked_to)
    if (!to || linkTarget(facts.get(from.id)!) !== to.provider_payment_id) continue
    linked.set(to.id, [...(linked.get(to.id) ?? []), from])
  }
  return rows.map((row) => {
    const has_stand_ins = linked.has(row.id)
    const members = (linked.get(row.id) ?? []).filter((member) => !linked.has(member.id))
    const group = [row.id, ...members.map((member) => member.id)]
    const told = group.flatMap((id) => facts.get(id)!)
    const others = { claimed: has_stand_ins, contested: new Set<string>() }
    const state = derivePayment(told, row.provider_payment_id, others)
    return { row, has_stand_ins, group, told, state, link_target: linkTarget(facts.get(row.id)!) }
  })
}

function standInsOf(db: Queryable, bucket: number, rows: readonly PaymentRow[]): Promise<PaymentRow[]> {
  return rows.length === 0
    ? Promise.resolve([])
    : loadStandIns(
        db,
        bucket,
        rows.map((row) => row.id),
      )
}

async function tellersOf(
  db: Queryable,
  bucket: number,
  parts: readonly Part[],
): Promise<(row: PaymentRow, refund: string) => Tellers> {
  const keyOf = ({ tenant, namespace, account }: PaymentRow, refund: string) => {
    return { tenant, namespace, account, provider_refund_id: refund }
  }
  const keys = parts.flatMap(({ row, state }) => state.refunds.map(({ refund }) => keyOf(row, refund)))
  const claims = keys.length > 0 ? await loadRefundClaims(db, bucket, keys) : new Map<string, ClaimRow>()
  const known = new Set(parts.map(({ row }) => row.id))
  const outside = [...claims.values()].flatMap(({ claimants }) => claimants.filter((id) => !known.has(id)))
  const others =
    outside.length > 0
      ? await deriveAlone(db, bucket, await loadPayments(db, bucket, [...new Set(outside)]))
      : []
  const told = new Map([...parts, ...others].map((part) => [part.row.id, part.state.refunds]))
  return (row, refund) => {
    const stored = claims.get(claimLock(keyOf(row, refund)))?.claimants ?? []
    const founded = stored.filter((id) => told.get(id)?.some((one) => one.refund === refund))
    return { stored, founded: founded.includes(row.id) ? founded : [...founded, row.id] }
  }
}
