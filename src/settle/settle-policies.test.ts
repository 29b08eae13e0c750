import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { BUCKET, Merchant, type MerchantOptions } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import { decision } from '../facts/decision.ts'
import type { Fact } from '../facts/fact.ts'
import { paymentMilestone } from '../facts/payment.ts'
import { refundMilestone } from '../facts/refund.ts'
import type { PolicyOptions } from '../rules/policy.ts'
import type { Database } from '../store/database.ts'
import { leaseEffects } from '../store/queries/lease-effects.ts'

const TERMS = { amount_minor: 2_000n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }

function shop(database: Database, policy: PolicyOptions = {}, options: MerchantOptions = {}): Merchant {
  const merchant = new Merchant(database, options)
  const topics = new Set(['receipt.due', 'refund.due', 'exception.opened'])
  Object.assign(merchant.context, { policy, topics })
  return merchant
}

function paid(merchant: Merchant, id: string, amount_minor = 2_000n, day = 1): Fact {
  const content = { milestone: 'succeeded', amount_minor, currency: 'USD', order: 'A-1' } as const
  return paymentMilestone(merchant.payment(id), { ...content, moved_at: `2026-01-0${day}T00:00:00Z` })
}

function refunded(merchant: Merchant, id: string, amount_minor = 2_000n): Fact {
  const content = { refund: `re_${id}`, milestone: 'succeeded', amount_minor, currency: 'USD' } as const
  return refundMilestone(merchant.payment(id), content)
}

/** The refunds in the outbox, as `cause amount state`. */
async function refunds(merchant: Merchant): Promise<string[]> {
  const rows = await merchant.rows<{ cause: string; amount: string; state: string }>(
    `select cause, payload ->> 'amount_minor' as amount, state from effects where tenant = $1 and topic = 'refund.due'`,
    [merchant.tenant],
  )
  return rows.map(({ cause, amount, state }) => `${cause} ${amount} ${state}`).sort()
}

/** A worker takes everything that is due within a day, and never says what came of it. */
async function take(database: Database): Promise<number> {
  const now = new Date(Date.now() + 86_400_000)
  const until = new Date(now.getTime() + 60_000)
  const token = '00000000-0000-4000-8000-000000000000'
  return (await leaseEffects(database, BUCKET, { now, until, token, limit: 1_000 })).length
}

async function expectSound(database: Database): Promise<void> {
  expect((await audit(database)).differences).toEqual([])
}

withDatabases('policies in the database', (open) => {
  it('an installation’s policy is pinned when an order is registered, and the order’s own outranks it', async () => {
    const database = await open()
    const before = shop(database, { partial_refund: 'revoke', tolerance_minor: { USD: 5n, EUR: 900n } })
    await before.settle(
      before.order('A-1', TERMS),
      before.order('A-2', { ...TERMS, policy: { partial_refund: 'keep' } }),
    )
    // The options change, and both orders are registered once more by a process that has the new ones.
    const after = shop(database, { partial_refund: 'keep' }, { tenant: before.tenant })
    expect(await after.outcomes(after.order('A-1', TERMS))).toEqual(['settled'])
    expect(await after.outcomes(after.order('A-1', { ...TERMS, amount_minor: 1n }))).toEqual([
      'order_conflict',
    ])
    await after.settle(after.order('A-3', TERMS))
    for (const reference of ['A-1', 'A-2', 'A-3']) {
      const content = {
        milestone: 'succeeded',
        amount_minor: 1_995n,
        currency: 'USD',
        order: reference,
      } as const
      const subject = after.payment(reference)
      await after.settle(
        after.event(`paid ${reference}`, [
          paymentMilestone(subject, { ...content, moved_at: '2026-01-01T00:00:00Z' }),
        ]),
        after.event(`refunded ${reference}`, [refunded(after, reference, 500n)]),
      )
    }
    // The third was registered without a tolerance, so it was never paid.
    expect(await after.rights()).toEqual(['A-1 licence revoked', 'A-2 licence granted'])
    await expectSound(database)
  })

  it('pins it to terms that the merchant’s own table gives, too', async () => {
    const database = await open()
    const findOrders = async () => new Map([['A-1', TERMS]])
    const merchant = shop(database, { tolerance_minor: { USD: 5n } }, { findOrders })
    await merchant.settle(merchant.event('evt_1', [paid(merchant, 'pi_1', 1_995n)]))
    expect(await merchant.rights()).toEqual(['A-1 licence granted'])
    await expectSound(database)
  })

  it('P16 case-40 writes the refund of a surplus once, and takes it back when it is not due any more', async () => {
    const database = await open()
    const merchant = shop(database, { surplus: 'refund' })
    await merchant.settle(merchant.order('A-1', TERMS))
    await merchant.settle(merchant.event('evt_1', [paid(merchant, 'pi_1')]))
    expect(await refunds(merchant)).toEqual([])
    await merchant.settle(merchant.event('evt_2', [paid(merchant, 'pi_2', 2_000n, 2)]))
    await merchant.settle(merchant.event('evt_2b', [paid(merchant, 'pi_2', 2_000n, 2)]))
    expect(await refunds(merchant)).toEqual(['surplus/stripe/default/pi_2 2000 due'])
    // It is due only once it has stood for an hour.
    const waiting = `effects where tenant = $1 and topic = 'refund.due' and available_at > now() + interval '50 minutes'`
    expect(await merchant.count(waiting)).toBe(1)

    // The buyer's first payment is given back by hand instead: there is no surplus any more.
    await merchant.settle(merchant.event('evt_3', [refunded(merchant, 'pi_1')]))
    expect(await refunds(merchant)).toEqual(['surplus/stripe/default/pi_2 2000 withdrawn'])
    expect(await merchant.rights()).toEqual(['A-1 licence granted'])

    // A third payment makes it due anew, with its own amount.
    await merchant.settle(merchant.event('evt_4', [paid(merchant, 'pi_0', 500n, 1)]))
    expect(await refunds(merchant)).toEqual(['surplus/stripe/default/pi_2 500 due'])
    await merchant.settle(merchant.event('evt_5', [paid(merchant, 'pi_9', 300n, 3)]))
    expect(await refunds(merchant)).toEqual([
      'surplus/stripe/default/pi_2 500 due',
      'surplus/stripe/default/pi_9 300 due',
    ])
    await expectSound(database)
  })

  it('P31 case-45 gives money back that came after the end, where the policy says so', async () => {
    const database = await open()
    const merchant = shop(database, { paid_after_close: 'refund', automatic_refund_after_ms: 0 })
    await merchant.settle(merchant.order('A-1', { ...TERMS, expires_at: '2025-12-31T00:00:00Z' }))
    await merchant.settle(merchant.event('evt_1', [paid(merchant, 'pi_1')]))
    expect(await refunds(merchant)).toEqual(['late/stripe/default/pi_1 2000 due'])
    expect(await merchant.rights()).toEqual([])
    expect(await merchant.exceptions()).toEqual(['paid_after_close pi_1'])
    await expectSound(database)
  })

  it('raises a refund that was started and is not due any more, and nothing once it has happened', async () => {
    const database = await open()
    const merchant = shop(database, { surplus: 'refund' })
    const late = shop(database, { surplus: 'refund' })
    for (const each of [merchant, late]) {
      await each.settle(each.order('A-1', TERMS))
      await each.settle(
        each.event('evt_1', [paid(each, 'pi_1')]),
        each.event('evt_2', [paid(each, 'pi_2', 2_000n, 2)]),
      )
    }
    expect(await take(database)).toBeGreaterThan(0)
    await late.settle(late.event('evt_3', [refunded(late, 'pi_2')]))
    expect(await late.exceptions()).toEqual([])

    await merchant.settle(merchant.event('evt_3', [refunded(merchant, 'pi_1')]))
    const raised = 'irreversible_effect_unjustified refund.due/surplus/stripe/default/pi_2'
    expect(await merchant.exceptions()).toEqual([raised])
    await expectSound(database)
    // It had gone: both are back, and nothing is left to explain.
    await merchant.settle(merchant.event('evt_4', [refunded(merchant, 'pi_2')]))
    expect(await merchant.exceptions()).toEqual([])
    expect(await merchant.rights()).toEqual(['A-1 licence revoked'])
    await expectSound(database)
  })

  it('raises a receipt that went out for an order that was never paid, and not for one that was refunded', async () => {
    const database = await open()
    const merchant = shop(database)
    const refunding = shop(database)
    for (const each of [merchant, refunding]) {
      await each.settle(each.order('A-1', TERMS), each.event('evt_1', [paid(each, 'pi_1')]))
    }
    expect(await take(database)).toBeGreaterThan(0)
    await refunding.settle(refunding.event('evt_2', [refunded(refunding, 'pi_1')]))
    expect(await refunding.exceptions()).toEqual([])

    // A person finds that the payment was another order's.
    const assigned = decision(merchant.payment('pi_1'), {
      id: 'd-1',
      decision: 'assign_order',
      order: 'A-2',
      actor: 'ann',
      reason: 'the reference was mistyped',
      at: '2026-01-02T00:00:00Z',
      based_on: '',
    })
    await merchant.settle(merchant.order('A-2', TERMS), merchant.states(assigned))
    expect(await merchant.rights()).toEqual(['A-1 licence none', 'A-2 licence granted'])
    expect(await merchant.exceptions()).toEqual(['irreversible_effect_unjustified receipt.due/order'])
    await expectSound(database)
  })

  it('case-22 takes back a receipt that nobody sent yet, and gives it back when the refund fails', async () => {
    const database = await open()
    const merchant = shop(database)
    const receipts = async () =>
      (await merchant.effects()).filter((effect) => effect.startsWith('receipt.due'))
    await merchant.settle(merchant.order('A-1', TERMS), merchant.event('evt_1', [paid(merchant, 'pi_1')]))
    await merchant.settle(merchant.event('evt_2', [refunded(merchant, 'pi_1')]))
    expect(await receipts()).toEqual(['receipt.due - 0 withdrawn'])
    const failed = { refund: 're_pi_1', milestone: 'failed', amount_minor: 2_000n, currency: 'USD' } as const
    await merchant.settle(merchant.event('evt_3', [refundMilestone(merchant.payment('pi_1'), failed)]))
    expect(await receipts()).toEqual(['receipt.due - 0 due'])
    expect(await merchant.rights()).toEqual(['A-1 licence granted'])
    expect(await merchant.exceptions()).toEqual(['refund_failed re_pi_1'])
    await expectSound(database)
  })
})
