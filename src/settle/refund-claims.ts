import { contestedRefund } from '../rules/derive-refund.ts'
import { refundsNamed } from '../rules/refund-total.ts'
import { asFact, loadDormantFacts } from '../store/queries/load-facts.ts'
import { type ClaimRow, loadRefundClaims } from '../store/queries/load-refund-claims.ts'
import { claimLock, type RefundKey } from '../store/queries/refund-key.ts'
import type { PaymentGroups } from './payment-groups.ts'
import type { PaymentDraft, PaymentDrafts } from './payments.ts'
import type { Intake } from './statement.ts'
import type { Work } from './work.ts'

/** Locks and reads payments that the batch did not name. */
export type BringPayments = (ids: readonly bigint[]) => Promise<readonly PaymentDraft[]>

/** One refund that payments of the batch tell of, or told of before. */
interface Claim {
  readonly key: RefundKey
  readonly stored: ClaimRow | undefined
  claimants: bigint[]
}

/**
 * One refund is one payment's. Where two tell of it, neither is believed, so both are derived as being in conflict, also
 * the one that this batch did not name; and once only one of them tells of it, that one is derived anew. Says what is to
 * be written of refunds. Costs nothing where no refunds are told.
 */
export async function settleRefundClaims(
  work: Work,
  drafts: PaymentDrafts,
  groups: PaymentGroups,
  intake: Intake,
  bring: BringPayments,
): Promise<void> {
  const changed = [...drafts.values()].filter((draft) => draft.state !== null)
  const told = await refundsTold(work, changed, groups)
  if (told.size === 0) return
  const claims = new Map<string, Claim>()
  await load(work, claims, told)
  for (const claim of claims.values()) claim.claimants = claimantsAfter(claim, changed)
  const others = await bring(concernedOutside(claims, drafts))
  await load(work, claims, refundsOf(others))
  for (const draft of [...changed, ...others]) {
    const contested = contestedOf(draft, claims)
    if (contested.size === 0) continue
    draft.complete = false
    draft.state = groups.derive(draft, contested)
  }
  const derived = new Map([...changed, ...others].map((draft) => [draft.id, draft]))
  for (const claim of claims.values()) {
    if (claim.claimants.length > 0) intake.refunds.push(...asWrite(claim, derived))
    else if (claim.stored) intake.gone_refunds.push(claim.key)
  }
}

function keyOf({ key: { tenant, namespace, account } }: PaymentDraft, refund: string): RefundKey {
  return { tenant, namespace, account, provider_refund_id: refund }
}

/** The refunds that these payments tell of now, or did before a replay or a link took that away. */
async function refundsTold(
  work: Work,
  changed: readonly PaymentDraft[],
  groups: PaymentGroups,
): Promise<Map<string, RefundKey>> {
  const replayed = changed.filter((draft) => draft.touched && draft.row?.has_returns)
  const dormant =
    replayed.length > 0
      ? await loadDormantFacts(
          work.tx,
          work.bucket,
          replayed.map((draft) => draft.id),
        )
      : []
  const told = refundsOf(changed)
  const add = (draft: PaymentDraft, refund: string) => {
    const key = keyOf(draft, refund)
    told.set(claimLock(key), key)
  }
  for (const draft of changed) {
    const own = groups.facts.get(draft) ?? []
    for (const refund of refundsNamed(own, draft.subject.id)) add(draft, refund)
    const before = dormant.filter((fact) => fact.subject_id === draft.id)
    const facts = before.map((fact) => asFact(draft.subject, fact))
    for (const refund of refundsNamed(facts, draft.subject.id)) add(draft, refund)
  }
  return told
}

function refundsOf(drafts: readonly PaymentDraft[]): Map<string, RefundKey> {
  const keys = drafts.flatMap((draft) =>
    (draft.state?.refunds ?? []).map(({ refund }) => keyOf(draft, refund)),
  )
  return new Map(keys.map((key) => [claimLock(key), key]))
}

async function load(
  work: Work,
  claims: Map<string, Claim>,
  keys: ReadonlyMap<string, RefundKey>,
): Promise<void> {
  const asked = [...keys].filter(([lock]) => !claims.has(lock))
  if (asked.length === 0) return
  const rows = await loadRefundClaims(
    work.tx,
    work.bucket,
    asked.map(([, key]) => key),
  )
  for (const [lock, key] of asked) {
    const stored = rows.get(lock)
    claims.set(lock, { key, stored, claimants: [...(stored?.claimants ?? [])] })
  }
}

function claimantsAfter({ key, stored }: Claim, changed: readonly PaymentDraft[]): bigint[] {
  const after = new Set(stored?.claimants ?? [])
  for (const draft of changed) {
    const tells = draft.state!.refunds.some(
      ({ refund }) => claimLock(keyOf(draft, refund)) === claimLock(key),
    )
    if (tells) after.add(draft.id)
    else after.delete(draft.id)
  }
  return [...after].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/** It was one payment's and is not any more, or the reverse: those on the other side are concerned. */
function crossed({ stored, claimants }: Claim): boolean {
  const before = stored?.claimants.length ?? 0
  return before > 0 && claimants.length > 0 && before > 1 !== claimants.length > 1
}

function concernedOutside(claims: ReadonlyMap<string, Claim>, drafts: PaymentDrafts): bigint[] {
  const derived = new Set([...drafts.values()].flatMap((draft) => (draft.state ? [draft.id] : [])))
  const ids = [...claims.values()].filter(crossed).flatMap((claim) => claim.claimants)
  return [...new Set(ids)].filter((id) => !derived.has(id))
}

function contestedOf(draft: PaymentDraft, claims: ReadonlyMap<string, Claim>): Set<string> {
  const contested = draft.state!.refunds.filter(
    ({ refund }) => (claims.get(claimLock(keyOf(draft, refund)))?.claimants.length ?? 0) > 1,
  )
  return new Set(contested.map(({ refund }) => refund))
}

/** What is told of a contested refund may differ by payment, so none of it is written; one that nothing changed is left out. */
function asWrite(
  { key, stored, claimants }: Claim,
  derived: ReadonlyMap<bigint, PaymentDraft>,
): Intake['refunds'] {
  const claims_rev = stored?.claims_rev ?? 0n
  if (claimants.length > 1) {
    if (claimants.join() === stored?.claimants.join()) return []
    return [{ ...key, claimants, claims_rev, state: contestedRefund(key.provider_refund_id) }]
  }
  const refunds = derived.get(claimants[0]!)?.state?.refunds ?? []
  const state = refunds.find(({ refund }) => refund === key.provider_refund_id)
  return state ? [{ ...key, claimants, claims_rev, state }] : []
}
