import { paymentMilestone } from '../src/facts/payment.ts'
import { Reconciler } from '../src/reconcile/reconciler.ts'
import { settleItem } from '../src/settle/item.ts'
import type { Database } from '../src/store/database.ts'
import { listingToy, type ToyListed, type ToyRefund } from './listed-toy.ts'
import { openShop } from './stripe-shop.ts'
import { toyPayment } from './toy-provider.ts'

const HOUR_MS = 3_600_000

/**
 * All webhooks of a day are lost and found by a first run. Then differences of every class are put in, `each` of each, and
 * a second run looks for them.
 */
export async function reconcileWithBreaks(
  database: Database,
  items: number,
  each: number,
  onProgress?: (listed: number) => void,
) {
  const books: { payments: ToyListed[]; refunds: ToyRefund[] } = { payments: [], refunds: [] }
  const { provider } = listingToy(books)
  const { paidonce } = openShop(database, { options: { endpoints: { toy: provider } } })
  const clock = { now_ms: Date.now() }
  const noAsk = () => Promise.reject(new Error('the toy needs no HTTP'))
  const reconciler = new Reconciler(paidonce.settler, paidonce.endpoints, noAsk, () => clock.now_ms, {
    tolerance_minor: 1n,
  })
  const run = () => reconciler.run({ endpoint: 'toy', onProgress: (_kind, listed) => onProgress?.(listed) })
  const begin_ms = clock.now_ms - 20 * HOUR_MS
  const step_ms = (15 * HOUR_MS) / items
  books.payments = Array.from({ length: items }, (_, n) => ({
    id: `p${n}`,
    at_ms: Math.floor(begin_ms + n * step_ms),
    amount_minor: 2_000n,
    order: `A-${n}`,
  }))
  const lost = await run()
  clock.now_ms += HOUR_MS

  const injected = new Map<string, string>()
  let next = 0
  const some = (found: string, change: (one: ToyListed) => readonly ToyListed[]) => {
    for (let n = 0; n < each; n += 1) {
      const one = books.payments[next]!
      const changed = change(one)
      injected.set(changed.length > 1 ? `${one.id} (again)` : (changed[0]?.id ?? one.id), found)
      books.payments.splice(next, 1, ...changed)
      next += changed.length + Math.max(1, Math.floor(items / (each * 12)) - 1)
    }
  }
  some('missing_external', () => [])
  some('amount_mismatch', (one) => [{ ...one, amount_minor: 1_500n }])
  some('currency_mismatch', (one) => [{ ...one, currency: 'EUR' }])
  some('status_mismatch', (one) => [{ ...one, milestone: 'pending' }])
  some('matched_within_tolerance', (one) => [{ ...one, amount_minor: 1_999n }])
  some('duplicate_external', (one) => [one, { ...one, amount_minor: 2_500n }])
  const beside = (found: string, at_ms: number, more: (n: number) => ToyListed) => {
    for (let n = 0; n < each; n += 1) {
      const one = { ...more(n), at_ms }
      injected.set(one.id, found)
      books.payments.push(one)
    }
  }
  const hour_ago = clock.now_ms - 2 * HOUR_MS
  const paid = { at_ms: hour_ago, amount_minor: 2_000n }
  beside('missing_internal', hour_ago, (n) => ({ ...paid, id: `new${n}`, order: `N-${n}` }))
  beside('not_ours', hour_ago, (n) => ({ ...paid, id: `stranger${n}`, says: 'foreign' }))
  beside('unverifiable', hour_ago, (n) => ({ ...paid, id: `odd${n}`, says: 'unreadable' }))
  for (let n = 0; n < each; n += 1) {
    books.refunds.push({ id: `r${n}`, payment: `nobody${n}`, at_ms: hour_ago, amount_minor: 100n })
    injected.set(`r${n}`, 'unexplained_refund')
  }
  const ours = (id: string, order: string, moved_ms: number) => {
    const moved_at = new Date(moved_ms).toISOString()
    const content = {
      milestone: 'succeeded',
      amount_minor: 2_000n,
      currency: 'USD',
      order,
      moved_at,
    } as const
    const source = { kind: 'merchant', id: 0n, version: 1 } as const
    const facts = [paymentMilestone(toyPayment(id), content)]
    return paidonce.settler.settleOne(0, settleItem({ tenant: paidonce.tenant, source, facts }))
  }
  for (let n = 0; n < each; n += 1) {
    // The last ones, which nothing above has changed.
    await ours(`copy${n}`, `A-${items - 1 - n}`, hour_ago)
    injected.set(`copy${n}`, 'duplicate_internal')
    await ours(`late${n}`, `L-${n}`, clock.now_ms - 1_000)
    injected.set(`late${n}`, 'timing_difference')
  }
  const found = await run()
  return { paidonce, clock, reconciler, lost, found, injected, books }
}
