import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { deriveAll } from '../../test/history/outcome.ts'
import { Merchant } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import type { Fact } from '../facts/fact.ts'
import { paymentLink, paymentMilestone } from '../facts/payment.ts'
import { refundMilestone } from '../facts/refund.ts'

const TERMS = { amount_minor: 500n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }
const PAYMENTS = ['a', 'b', 'c', 'd']

const payment = fc.constantFrom(...PAYMENTS)
/** What messages may tell, however little of it fits together: links in chains and circles, one refund under several payments. */
const saying = fc.oneof(
  fc.record({ says: fc.constant('paid' as const), from: payment }),
  fc.record({ says: fc.constant('link' as const), from: payment, to: payment }),
  fc.record({ says: fc.constant('refund' as const), from: payment, refund: fc.constantFrom('re_1', 're_2') }),
)
type Saying = typeof saying extends fc.Arbitrary<infer S> ? S : never

function told(merchant: Merchant, saying: Saying): Fact {
  const subject = merchant.payment(saying.from)
  const money = { amount_minor: 500n, currency: 'USD' }
  if (saying.says === 'link') return paymentLink(subject, saying.to)
  if (saying.says === 'refund')
    return refundMilestone(subject, { refund: saying.refund, milestone: 'succeeded', ...money })
  const moved_at = '2026-01-01T00:00:00Z'
  return paymentMilestone(subject, {
    milestone: 'succeeded',
    ...money,
    moved_at,
    order: `for ${saying.from}`,
  })
}

/** What stands in the rows. What is held stays as it was on the way there, so it is left out. */
async function rows(merchant: Merchant): Promise<Record<string, unknown>> {
  const payments = await merchant.rows<{ id: string; status: string; refunded_minor: string }>(
    `select provider_payment_id as id, status, refunded_minor from payments where tenant = $1`,
    [merchant.tenant],
  )
  const on_hold = await merchant.rows<{ reference: string }>(
    `select reference from orders where tenant = $1 and status = 'on_hold'`,
    [merchant.tenant],
  )
  const held = new Set(on_hold.map(({ reference }) => reference))
  return {
    payments: Object.fromEntries(
      payments
        .filter(({ status }) => status !== 'linked' && status !== 'unknown')
        .map(({ id, status, refunded_minor }) => [id, `${status} ${refunded_minor}`]),
    ),
    rights: (await merchant.rights()).filter((right) => !held.has(right.split(' licence')[0]!)),
    exceptions: await merchant.exceptions(),
  }
}

withDatabases('links and refunds that do not fit together', (open) => {
  it('P14 P19 end the same in any order and batching, and the audit derives the same', {
    timeout: 120_000,
  }, async () => {
    const database = await open()
    const arrived = fc
      .array(saying, { minLength: 1, maxLength: 9 })
      .chain((sayings) =>
        fc.tuple(fc.constant(sayings), fc.shuffledSubarray(sayings, { minLength: sayings.length })),
      )
    const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(arrived, sizes, async ([sayings, shuffled], lengths) => {
        const merchant = new Merchant(database)
        await merchant.settle(...PAYMENTS.map((id) => merchant.order(`for ${id}`, TERMS)))
        let turn = 0
        for (let start = 0; start < shuffled.length; turn += 1) {
          const batch = shuffled.slice(start, start + lengths[turn % lengths.length]!)
          start += batch.length
          const items = batch.map((one, place) =>
            merchant.event(`evt_${turn}_${place}`, [told(merchant, one)]),
          )
          for (const outcome of await merchant.outcomes(...items)) expect(outcome).toBe('settled')
        }
        const derived = deriveAll(
          sayings.map((one) => told(merchant, one)),
          '2026-01-02T00:00:00Z',
        )
        const is = await rows(merchant)
        const known = [...derived.payments].filter(([, state]) => state.status !== 'unknown')
        expect(is.payments).toEqual(
          Object.fromEntries(known.map(([id, state]) => [id, `${state.status} ${state.refunded_minor}`])),
        )
        const first = { merchant, is }
        const again = new Merchant(database)
        await again.settle(...PAYMENTS.map((id) => again.order(`for ${id}`, TERMS)))
        await again.settle(...sayings.map((one, place) => again.event(`evt_${place}`, [told(again, one)])))
        expect(await rows(again)).toEqual(first.is)
      }),
      { numRuns: 60 },
    )
    expect((await audit(database)).differences).toEqual([])
  })

  it('P14 P10 two payments that learn of one refund at the same time are both in conflict', async () => {
    const database = await open()
    for (let round = 0; round < 10; round += 1) {
      const [left, right] = [new Merchant(database), new Merchant(database)]
      const other = new Merchant(database, { tenant: left.tenant })
      const say = (merchant: Merchant, from: string, says: 'paid' | 'refund') =>
        merchant.event(`${from} ${says}`, [told(merchant, { says, from, refund: 're_1' } as Saying)])
      await left.settle(say(left, 'a', 'paid'), say(left, 'b', 'paid'))
      await Promise.all([left.outcomes(say(left, 'a', 'refund')), other.outcomes(say(other, 'b', 'refund'))])
      expect((await rows(left)).payments).toEqual({ a: 'conflicted 0', b: 'conflicted 0' })
      expect(await right.exceptions()).toEqual([])
    }
    expect((await audit(database)).differences).toEqual([])
  })
})
