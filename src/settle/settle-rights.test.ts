import { expect, it } from 'vitest'
import { withDatabases, withPostgres } from '../../test/database.ts'
import { Merchant, type MerchantOptions } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import type { OrderItem, OrderTerms } from '../facts/order.ts'
import { paymentMilestone } from '../facts/payment.ts'
import { refundMilestone } from '../facts/refund.ts'
import { subscriptionStatus } from '../facts/subscription.ts'
import { KeptSweeper } from '../receive/kept.ts'
import type { Database } from '../store/database.ts'
import type { RightChanged } from './hook.ts'
import type { SettleItem } from './item.ts'
import { Settler } from './settler.ts'

const PRO: OrderItem = { item: 'pro', quantity: 1 }
const TERMS: OrderTerms = { amount_minor: 100n, currency: 'USD', items: [PRO], holder: 'user-1' }

function pay(merchant: Merchant, order: string): SettleItem {
  const content = { milestone: 'succeeded', amount_minor: 100n, currency: 'USD', order } as const
  return merchant.event(`paid ${order}`, [paymentMilestone(merchant.payment(`pi_${order}`), content)])
}

function refund(merchant: Merchant, order: string, amount_minor = 100n): SettleItem {
  const content = { refund: `re_${order}`, milestone: 'succeeded', amount_minor, currency: 'USD' } as const
  return merchant.event(`refunded ${order}`, [refundMilestone(merchant.payment(`pi_${order}`), content)])
}

/** What holders have, as `holder item quantity state revision`. */
async function held(merchant: Merchant): Promise<string[]> {
  const rows = await merchant.rows<{
    holder: string
    item: string
    quantity: bigint
    state: string
    revision: bigint
  }>(`select holder, item, quantity, state, revision from rights where tenant = $1`, [merchant.tenant])
  return rows
    .map(
      ({ holder, item, quantity, state, revision }) => `${holder} ${item} ${quantity} ${state} ${revision}`,
    )
    .sort()
}

async function announced(merchant: Merchant): Promise<object[]> {
  const rows = await merchant.rows<{ payload: object }>(
    `select payload from effects where tenant = $1 and topic = 'right.changed' order by seq`,
    [merchant.tenant],
  )
  return rows.map(({ payload }) => payload)
}

/** A merchant who writes down every change of a right that its hook is told. */
function listening(database: Database, options: MerchantOptions = {}) {
  const told: string[] = []
  const merchant = new Merchant(database, options)
  const onRight = ({
    holder,
    item,
    quantity,
    previous_quantity,
    state,
    previous,
    revision,
  }: RightChanged) => {
    told.push(`${revision}: ${holder} ${item} ${previous_quantity} ${previous} to ${quantity} ${state}`)
  }
  const settler = new Settler({ ...merchant.context, onRight }, Date.now, options)
  return { merchant: Object.assign(merchant, { settler }), told }
}

withDatabases('the right of a holder', (open) => {
  it('seq-16 P33 stays while another order gives it, and ends with the last', async () => {
    const database = await open()
    const { merchant, told } = listening(database)
    await merchant.settle(merchant.order('A', TERMS), merchant.order('B', TERMS))
    await merchant.settle(pay(merchant, 'A'))
    await merchant.settle(pay(merchant, 'B'))
    await merchant.settle(refund(merchant, 'A'))
    expect(await merchant.rights()).toEqual(['A pro revoked', 'B pro granted'])
    expect(await held(merchant)).toEqual(['user-1 pro 1 granted 3'])
    await merchant.settle(refund(merchant, 'B'))
    expect(await held(merchant)).toEqual(['user-1 pro 0 revoked 4'])
    expect(told).toEqual([
      '1: user-1 pro 0 none to 1 granted',
      '2: user-1 pro 1 granted to 2 granted',
      '3: user-1 pro 2 granted to 1 granted',
      '4: user-1 pro 1 granted to 0 revoked',
    ])
    const payload = { holder: 'user-1', item: 'pro', epoch: '1' }
    expect(await announced(merchant)).toEqual([
      { ...payload, quantity: 1, state: 'granted', revision: 1 },
      { ...payload, quantity: 2, state: 'granted', revision: 2 },
      { ...payload, quantity: 1, state: 'granted', revision: 3 },
      { ...payload, quantity: 0, state: 'revoked', revision: 4 },
    ])
    expect((await audit(database)).differences).toEqual([])
  })

  it('P21 seq-15 case-25 is the balance of credits: top-ups, partial refunds, an old plan that ends', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    const credits = (quantity: number): OrderTerms => ({
      ...TERMS,
      items: [{ item: 'credits', quantity, credits: true }],
    })
    await merchant.settle(merchant.order('A', credits(10)), merchant.order('B', credits(87)))
    await merchant.settle(pay(merchant, 'A'), pay(merchant, 'B'))
    expect(await held(merchant)).toEqual(['user-1 credits 97 granted 1'])
    await merchant.settle(refund(merchant, 'A', 45n))
    expect(await held(merchant)).toEqual(['user-1 credits 92 granted 2'])
    await merchant.settle(refund(merchant, 'B'), refund(merchant, 'B'))
    expect(await held(merchant)).toEqual(['user-1 credits 5 granted 3'])
    expect((await audit(database)).differences).toEqual([])
  })

  it('case-25 P33 an old subscription ends after a new one began: nothing is taken, in either order', async () => {
    const database = await open()
    for (const late of [true, false]) {
      const { merchant, told } = listening(database)
      const recurring = { ...TERMS, recurring: {} }
      const state = (id: string, status: 'active' | 'canceled', order: string, at: string) => {
        const subject = { kind: 'subscription', namespace: 'stripe', account: 'default', id } as const
        const period_end = status === 'active' ? '2999-01-01T00:00:00.000Z' : '2025-03-01T00:00:00.000Z'
        return merchant.event(`${id} ${status}`, [
          subscriptionStatus(subject, { status, at, order, period_end }),
        ])
      }
      await merchant.settle(merchant.order('A', recurring), merchant.order('B', recurring))
      await merchant.settle(state('sub_A', 'active', 'A', '2025-01-01T00:00:00.000Z'))
      const ended = state('sub_A', 'canceled', 'A', '2025-03-01T00:00:00.000Z')
      const began = state('sub_B', 'active', 'B', '2025-02-20T00:00:00.000Z')
      for (const item of late ? [began, ended] : [ended, began]) await merchant.settle(item)
      expect(await merchant.rights()).toEqual(['A pro expired', 'B pro granted'])
      expect((await held(merchant))[0]).toMatch(/^user-1 pro 1 granted/)
      expect(told.filter((change) => change.endsWith('expired'))).toHaveLength(late ? 0 : 1)
    }
    expect((await audit(database)).differences).toEqual([])
  })

  it('changes once for a batch that ends one source and begins another', async () => {
    const { merchant, told } = listening(await open())
    await merchant.settle(merchant.order('A', TERMS), merchant.order('B', TERMS))
    await merchant.settle(pay(merchant, 'A'))
    await merchant.settle(refund(merchant, 'A'), pay(merchant, 'B'))
    expect(await merchant.rights()).toEqual(['A pro revoked', 'B pro granted'])
    expect(told).toEqual(['1: user-1 pro 0 none to 1 granted'])
  })

  it('costs nothing where no order names a holder, and other holders and tenants are apart', async () => {
    const database = await open()
    const [merchant, other] = [new Merchant(database), new Merchant(database)]
    const { holder: _, ...nobody } = TERMS
    await merchant.settle(merchant.order('A', nobody), merchant.order('B', TERMS))
    await merchant.settle(merchant.order('C', { ...TERMS, holder: 'user-2' }), other.order('A', TERMS))
    await merchant.settle(pay(merchant, 'A'))
    expect(await held(merchant)).toEqual([])
    await merchant.settle(pay(merchant, 'B'), pay(merchant, 'C'))
    await other.settle(pay(other, 'A'))
    await merchant.settle(refund(merchant, 'C'))
    expect(await held(merchant)).toEqual(['user-1 pro 1 granted 1', 'user-2 pro 0 revoked 2'])
    expect(await held(other)).toEqual(['user-1 pro 1 granted 1'])
  })

  it('P57 P11 fails with its orders when the hook fails, and the neighbours commit', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    let broken = true
    const onRight = ({ holder }: RightChanged) => {
      if (broken && holder === 'user-1') throw new Error('no table')
    }
    Object.assign(merchant, { settler: new Settler({ ...merchant.context, onRight }, Date.now, {}) })
    await merchant.settle(
      merchant.order('A', TERMS),
      merchant.order('B', TERMS),
      merchant.order('C', { ...TERMS, holder: 'user-2' }),
    )
    const outcomes = await merchant.outcomes(pay(merchant, 'A'), pay(merchant, 'B'), pay(merchant, 'C'))
    expect(outcomes).toEqual(['kept', 'kept', 'settled'])
    // The row that was locked stands; nothing is given by it yet.
    expect(await held(merchant)).toEqual(['user-1 pro 0 none 0', 'user-2 pro 1 granted 1'])
    expect((await audit(database)).differences).toEqual([])
    broken = false
    await merchant.sweep()
    expect(await held(merchant)).toEqual(['user-1 pro 2 granted 1', 'user-2 pro 1 granted 1'])
    expect((await audit(database)).differences).toEqual([])
  })

  it('expires by time: the wake-up settles the order, and the right with it', async () => {
    const database = await open()
    const { merchant, told } = listening(database)
    const valid_until = new Date(Date.now() - 1_000).toISOString()
    const soon = (date: Date) =>
      merchant.rows(`update orders set next_wakeup_at = $2 where tenant = $1`, [
        merchant.tenant,
        date.toISOString(),
      ])
    const lasting: OrderTerms = { ...TERMS, items: [{ ...PRO, valid_for_ms: 40 }] }
    await merchant.settle(
      merchant.order('A', lasting),
      merchant.order('B', { ...TERMS, items: [{ ...PRO, valid_until }] }),
    )
    const moved_at = new Date(Date.now() + 5_000).toISOString()
    const content = {
      milestone: 'succeeded',
      amount_minor: 100n,
      currency: 'USD',
      order: 'A',
      moved_at,
    } as const
    await merchant.settle(
      merchant.event('1', [paymentMilestone(merchant.payment('pi_A'), content)]),
      pay(merchant, 'B'),
    )
    expect(await merchant.rights()).toEqual(['A pro granted', 'B pro expired'])
    const [row] = await merchant.rows<{ at: Date }>(
      `select next_wakeup_at as at from orders where tenant = $1 and reference = 'A'`,
      [merchant.tenant],
    )
    expect(row!.at).toEqual(new Date(Date.parse(moved_at) + 40))
    await soon(new Date(Date.now() - 1_000))
    const sweeper = new KeptSweeper(merchant.settler, new Map(), 1, Date.now)
    expect(await sweeper.runOnce()).toMatchObject({ woken: 2 })
    expect(told).toEqual(['1: user-1 pro 0 none to 1 granted'])
  })

  it('P44 that was changed by hand, or taken away, is named by the audit', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    await merchant.settle(merchant.order('A', TERMS))
    await merchant.settle(pay(merchant, 'A'))
    const found = async () =>
      (await audit(database)).differences.map(({ table, column }) => `${table} ${column}`)
    expect(await found()).toEqual([])
    await merchant.rows(`update rights set quantity = 5, revision = 2 where tenant = $1`, [merchant.tenant])
    expect(await found()).toEqual(['rights quantity', 'effects revision'])
    await merchant.rows(`delete from rights where tenant = $1`, [merchant.tenant])
    expect(await found()).toEqual(['effects subject_id', 'entitlements holder'])
  })
})

withPostgres('two processes that change orders of one holder', (open) => {
  it('P10 P33 lose no source, whoever comes first', async () => {
    const database = await open()
    const here = new Merchant(database)
    const elsewhere = new Merchant(await open({ apart: true }), { tenant: here.tenant })
    const orders = Array.from({ length: 12 }, (_, index) => `${index}`)
    await here.settle(...orders.map((order) => here.order(order, TERMS)))
    await Promise.all(
      orders.map((order, place) =>
        (place % 2 ? here : elsewhere).settle(pay(place % 2 ? here : elsewhere, order)),
      ),
    )
    expect((await held(here))[0]).toMatch(/^user-1 pro 12 granted/)
    await Promise.all(
      orders
        .slice(0, 7)
        .map((order, place) =>
          (place % 2 ? elsewhere : here).settle(refund(place % 2 ? elsewhere : here, order)),
        ),
    )
    expect((await held(here))[0]).toMatch(/^user-1 pro 5 granted/)
    expect((await audit(database)).differences).toEqual([])
  })

  it('P10 wait for each other under the lock of the right, and the second sees what the first gave', async () => {
    const database = await open()
    const merchant = new Merchant(database)
    const elsewhere = new Merchant(await open({ apart: true }), { tenant: merchant.tenant })
    await merchant.settle(merchant.order('A', TERMS), merchant.order('B', TERMS))
    let second: Promise<string[]> | undefined
    const first = new Settler(merchant.context, Date.now, {
      onBoundary: async (boundary) => {
        // The first holds the right; the second begins and cannot end before the first has committed.
        if (boundary === 'derived') second ??= elsewhere.outcomes(pay(elsewhere, 'B'))
      },
    })
    Object.assign(merchant, { settler: first })
    expect(await merchant.outcomes(pay(merchant, 'A'))).toEqual(['settled'])
    expect(await second).toEqual(['settled'])
    expect(await held(merchant)).toEqual(['user-1 pro 2 granted 2'])
  })
})
