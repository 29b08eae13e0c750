import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fact } from '../../facts/fact.ts'
import { derivePayment } from '../../rules/derive-payment.ts'
import type { Provider } from '../contract.ts'
import { askAll, contextAt, endpointOf, told } from './asked.ts'
import { type FakePaypal, startFakePaypal } from './fake.ts'
import { madeCapture, madeOrder } from './made-up.ts'
import { readOrder } from './order.ts'
import { collision } from './vectors.ts'

let now_ms = Date.parse('2026-03-03T12:12:36Z')
const context = () => contextAt(now_ms)
const day = 86_400_000
let fake: FakePaypal
let provider: Provider

beforeEach(async () => {
  now_ms = Date.parse('2026-03-03T12:12:36Z')
  fake = await startFakePaypal(() => now_ms)
  provider = endpointOf(fake)
})
afterEach(() => fake.close())

const sale = { seed: 'a', amount_minor: 2500n, currency: 'EUR', order: 'ORD-1' }
const ask = (object: string, id: string) => provider.lookup!.fetch({ object, id }, null, context())

async function factsOf(object: string, id: string): Promise<readonly Fact[]> {
  const answer = await ask(object, id)
  if (answer.outcome !== 'found') throw new Error(JSON.stringify(answer))
  return answer.facts
}

/** What all events so far come to, once everything that they ask has been answered. */
async function settled(): Promise<readonly Fact[]> {
  const facts: Fact[] = []
  for (const body of fake.events()) {
    const delivery = {
      method: 'POST',
      headers: fake.sign(body, 'STANDIN0WEBHOOK0OLDER'),
      body: Buffer.from(body),
    }
    const verified = await provider.verify(delivery, now_ms)
    if (verified.refused || 'unconfirmed' in verified) throw new Error('not verified')
    const { facts: hints, lookups = [] } = provider.translate(delivery, verified)
    facts.push(...hints, ...(await askAll(provider, context(), lookups)))
  }
  return facts
}

function paymentOf(facts: readonly Fact[], ...ids: readonly string[]) {
  return derivePayment(
    facts.filter(({ subject }) => subject.kind === 'payment' && ids.includes(subject.id)),
    ids[0],
  )
}

describe('captures and orders', () => {
  it('P51 a capture is money once PayPal says so, with the time of the buyer and the order', async () => {
    const capture = fake.pay(sale)
    expect(told(await factsOf('capture', capture))).toEqual([
      [
        capture,
        'payment/succeeded',
        {
          milestone: 'succeeded',
          amount_minor: 2500n,
          currency: 'EUR',
          moved_at: '2026-03-03T12:12:36.000Z',
          order: 'ORD-1',
        },
      ],
    ])
  })

  it('P17 of two bodies with one CRC-32 only what the look-up confirms is granted', async () => {
    const capture = fake.pay({ ...sale, amount_minor: 1000n })
    const amounts = []
    for (const { body } of [collision.genuine, collision.forged]) {
      const text = Buffer.from(body).toString().replace('3C679366HH908993F', capture)
      const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
      const delivery = { method: 'POST', headers: {}, body: Buffer.from(text) }
      const { facts, lookups = [] } = provider.translate(delivery, verified)
      const payment = paymentOf([...facts, ...(await askAll(provider, context(), lookups))], capture)
      amounts.push([payment.status, payment.captured_minor])
    }
    expect(amounts).toEqual([
      ['succeeded', 1000n],
      ['succeeded', 1000n],
    ])
  })

  it('P51 does not take an answer about another object for the one that was asked about', async () => {
    const [mine, other] = [fake.pay(sale), fake.pay({ ...sale, seed: 'b', order: 'ORD-2' })]
    const { ask, ...rest } = context()
    const mixed = { ...rest, ask: ((url, request) => ask(url.replace(mine, other), request)) as typeof ask }
    for (const object of ['capture', 'payment']) {
      const answer = await provider.lookup!.fetch({ object, id: mine }, null, mixed)
      expect(answer).toEqual({ outcome: 'unreadable', reason: 'the answer is about another object' })
    }
  })

  it('P52 approval, order and capture are one payment', async () => {
    const order = fake.approve(sale)
    expect(paymentOf(await settled(), order)).toMatchObject({ status: 'pending', captured_minor: 0n })
    const capture = fake.capture(order)
    const facts = await settled()
    expect(paymentOf(facts, order)).toMatchObject({ status: 'linked', linked_to: capture })
    expect(paymentOf(facts, capture, order)).toMatchObject({
      status: 'succeeded',
      captured_minor: 2500n,
      order: 'ORD-1',
      exceptions: [],
    })
  })

  it.each([
    ['one final capture of a completed order', 'COMPLETED', [true], 1],
    ['two captures', 'COMPLETED', [true, true], 0],
    ['a capture that others may follow', 'COMPLETED', [false], 0],
    ['an order that is not completed', 'APPROVED', [true], 0],
    ['no capture', 'COMPLETED', [], 0],
  ])('links an order to its payment where there is no doubt: %s', (_what, status, finals, links) => {
    const { seed: _seed, ...made } = { ...sale, at_s: 1, status: 'COMPLETED' }
    const captures = finals.map((final, at) =>
      madeCapture({ ...made, id: `CAPTURE${at}`, paypal_order: 'ORDER1', final }),
    )
    const { facts } = readOrder(
      { account: 'default', orderReference: {}, merchantId: undefined },
      madeOrder({ ...made, id: 'ORDER1', status, captures }),
    )
    expect(facts.filter(({ kind }) => kind === 'payment_link')).toHaveLength(links)
  })

  it('P39 a pending capture stays pending until it clears, and a declined one fails', async () => {
    const cleared = fake.capture(fake.approve(sale), 'PENDING')
    expect(paymentOf(await settled(), cleared)).toMatchObject({ status: 'pending', captured_minor: 0n })
    fake.clear(cleared)
    expect(paymentOf(await settled(), cleared)).toMatchObject({ status: 'succeeded', captured_minor: 2500n })
    const declined = fake.capture(fake.approve({ ...sale, seed: 'b' }), 'DECLINED')
    expect(paymentOf(await settled(), declined)).toMatchObject({ status: 'failed', captured_minor: 0n })
  })

  it('an authorisation is no money', async () => {
    const id = fake.authorize(sale)
    expect(paymentOf(await settled(), id)).toMatchObject({
      status: 'authorized',
      authorized_minor: 2500n,
      captured_minor: 0n,
    })
  })

  it('P18 reads forint without a fraction as what they are in ISO 4217', async () => {
    const capture = fake.pay({ ...sale, amount_minor: 500_000n, currency: 'HUF' })
    expect(told(await factsOf('capture', capture))[0]![2]).toMatchObject({
      amount_minor: 500_000n,
      currency: 'HUF',
    })
  })

  it("P29 another merchant's money is not ours", async () => {
    const id = fake.pay(sale)
    const other = endpointOf(fake, { merchantId: 'OTHERMERCHANT' })
    expect(await other.lookup!.fetch({ object: 'capture', id }, null, context())).toMatchObject({
      outcome: 'unreadable',
    })
  })

  it('takes the order reference from where it is configured, in the form that is configured', async () => {
    const id = fake.pay({ ...sale, order: 'ORD-1' })
    const orderOf = async (orderReference: object) => {
      const answer = await endpointOf(fake, { orderReference }).lookup!.fetch(
        { object: 'capture', id },
        null,
        context(),
      )
      return answer.outcome === 'found' && told(answer.facts)[0]![2]
    }
    expect(await orderOf({ field: 'custom_id' })).toMatchObject({ order: 'ORD-1' })
    expect(await orderOf({ pattern: /^ORD-\d+$/g })).toMatchObject({ order: 'ORD-1' })
    expect(await orderOf({ pattern: /^SHOP-/ })).not.toHaveProperty('order')
  })
})

describe('money that goes back', () => {
  it('P22 P23 refunds count by their own amounts, and the running total only checks', async () => {
    const capture = fake.pay(sale)
    fake.refund(capture, 500n)
    const second = fake.refund(capture, 1000n)
    expect(told(await factsOf('refund', second))).toMatchObject([
      [capture, `refund/${second}/succeeded`, { amount_minor: 1000n, currency: 'EUR' }],
      [capture, 'refund_total/payment/1500', { total_minor: 1500n }],
    ])
    expect(paymentOf(await settled(), capture)).toMatchObject({
      captured_minor: 2500n,
      refunded_minor: 1500n,
      exceptions: [],
    })
  })

  it('P22 a refund whose capture was never told asks about the capture too', async () => {
    const capture = fake.pay(sale)
    const refund = fake.refund(capture, 500n)
    const facts = await askAll(provider, context(), [{ object: 'refund', id: refund }])
    expect(paymentOf(facts, capture)).toMatchObject({ captured_minor: 2500n, refunded_minor: 500n })
  })

  it('a refund that fails gives nothing back', async () => {
    const capture = fake.pay(sale)
    fake.refund(capture, 500n, 'FAILED')
    expect(paymentOf(await settled(), capture)).toMatchObject({ refunded_minor: 0n, captured_minor: 2500n })
  })

  it('P24 a reversal without a dispute takes its own part and no more', async () => {
    const capture = fake.pay(sale)
    fake.reverse(capture, 1000n)
    expect(paymentOf(await settled(), capture)).toMatchObject({
      status: 'succeeded',
      captured_minor: 2500n,
      reversed_minor: 1000n,
    })
  })

  it('P23 a reversal that a dispute explains is counted once, as the dispute', async () => {
    const capture = fake.pay(sale)
    const dispute = fake.dispute(capture, 1000n)
    fake.reverse(capture, 1000n)
    now_ms += day
    fake.decide(dispute, 'RESOLVED_BUYER_FAVOUR')
    expect(paymentOf(await settled(), capture)).toMatchObject({
      reversed_minor: 0n,
      lost_minor: 1000n,
      refunded_minor: 0n,
    })
  })

  it('a reversal during an inquiry, which moves no money, is a reversal of its own', async () => {
    const capture = fake.pay(sale)
    fake.dispute(capture, 1000n, 'INQUIRY')
    fake.reverse(capture, 1000n)
    expect(paymentOf(await settled(), capture)).toMatchObject({ reversed_minor: 1000n, disputed_minor: 0n })
  })

  const debit = { type: 'DEBIT', amount_minor: 1000n, at_s: 1_772_600_000 } as const
  const credit = { type: 'CREDIT', amount_minor: 1000n, at_s: 1_772_700_000 } as const
  const fee = { type: 'DEBIT', amount_minor: 2000n, at_s: 1_772_600_000, reason: 'CHARGEBACK_FEE' } as const

  it.each([
    ['RESOLVED_BUYER_FAVOUR', 'no movement', undefined, { lost_minor: 1000n, disputed_minor: 0n }],
    ['RESOLVED_SELLER_FAVOUR', 'no movement', undefined, { lost_minor: 0n, disputed_minor: 0n }],
    ['CANCELED_BY_BUYER', 'no movement', undefined, { lost_minor: 0n, disputed_minor: 0n }],
    ['RESOLVED_BUYER_FAVOUR', 'a debit and a fee', [debit, fee], { lost_minor: 1000n, disputed_minor: 0n }],
    ['RESOLVED_WITH_PAYOUT', 'a debit and a credit', [debit, credit], { lost_minor: 0n, disputed_minor: 0n }],
    ['ACCEPTED', 'a debit', [debit], { lost_minor: 1000n, disputed_minor: 0n }],
    // Nothing says who has the money: it stays withheld, and a person is told.
    ['RESOLVED_WITH_PAYOUT', 'no movement', undefined, { lost_minor: 0n, disputed_minor: 1000n }],
    ['NONE', 'no movement', undefined, { lost_minor: 0n, disputed_minor: 1000n }],
    ['SOMETHING_NEW', 'no movement', undefined, { lost_minor: 0n, disputed_minor: 1000n }],
  ])('P23 a dispute that ends %s with %s', async (outcome, _what, movements, expected) => {
    const capture = fake.pay(sale)
    const dispute = fake.dispute(capture, 1000n)
    expect(paymentOf(await settled(), capture)).toMatchObject({ disputed_minor: 1000n })
    now_ms += day
    fake.decide(dispute, outcome, movements)
    expect(paymentOf(await settled(), capture)).toMatchObject(expected)
  })
})

describe('payments v1 and subscriptions', () => {
  const subscription = 'I-TEST0SUBSC1'
  const at = (iso: string) => Date.parse(iso) / 1000

  it('P33 a charge names its subscription and no order, or each would pay the first order again', async () => {
    fake.subscribe({ id: subscription, status: 'ACTIVE', order: 'ORD-1' })
    const charge = fake.charge({ ...sale, subscription })
    const [, , content] = told(await factsOf('sale', charge))[0]!
    expect(content).toMatchObject({ milestone: 'succeeded', amount_minor: 2500n, subscription })
    expect(content).not.toHaveProperty('order')
    const single = fake.charge({ ...sale, seed: 'b' })
    expect(told(await factsOf('sale', single))[0]![2]).toMatchObject({ order: 'ORD-1' })
  })

  it('finds a sale behind an id that is asked about as a capture, and the other way round', async () => {
    const charge = fake.charge(sale)
    const capture = fake.pay({ ...sale, seed: 'b' })
    expect(await ask('capture', charge)).toMatchObject({ outcome: 'found' })
    expect(await ask('sale', capture)).toMatchObject({ outcome: 'found' })
    expect(await ask('payment', charge)).toMatchObject({ outcome: 'found' })
  })

  it('reads the refund of a sale', async () => {
    const charge = fake.charge(sale)
    const refund = fake.refundSale(charge, 700n)
    expect(told(await factsOf('sale_refund', refund))).toMatchObject([
      [charge, `refund/${refund}/succeeded`, { amount_minor: 700n }],
    ])
    expect(told(await factsOf('sale_reversal', refund))).toMatchObject([
      [charge, 'payment/reversed', { amount_minor: 700n }],
    ])
  })

  it.each([
    [{ status: 'APPROVAL_PENDING' }, 'incomplete'],
    [{ status: 'ACTIVE', paid_s: at('2026-03-01T00:00:00Z') }, 'active'],
    [{ status: 'ACTIVE', failed_s: at('2026-04-01T00:00:00Z') }, 'past_due'],
    [{ status: 'SUSPENDED', failed_s: at('2026-04-01T00:00:00Z') }, 'unpaid'],
    [{ status: 'SUSPENDED' }, 'paused'],
    [{ status: 'CANCELLED' }, 'canceled'],
    [{ status: 'EXPIRED' }, 'expired'],
  ])('P20 reads subscription %j as %s', async (made, status) => {
    fake.subscribe({ id: subscription, ...made })
    expect(told(await factsOf('subscription', subscription))[0]![2]).toMatchObject({ status })
  })

  it('P53 sees active, past due and active again, although PayPal calls all three ACTIVE', async () => {
    const times: string[] = []
    const look = async () => {
      const [, , content] = told(await factsOf('subscription', subscription))[0]!
      times.push((content as { at: string }).at)
      return (content as { status: string }).status
    }
    fake.subscribe({ id: subscription, status: 'ACTIVE', paid_s: at('2026-03-03T12:12:36Z') })
    expect(await look()).toBe('active')
    fake.subscribe({ id: subscription, status: 'ACTIVE', failed_s: at('2026-04-03T10:00:00Z') })
    expect(await look()).toBe('past_due')
    fake.subscribe({ id: subscription, status: 'ACTIVE', paid_s: at('2026-04-08T10:00:00Z') })
    expect(await look()).toBe('active')
    expect([...times].sort()).toEqual(times)
  })

  it('asks about every payment that an invoice names', async () => {
    const capture = fake.pay(sale)
    expect(await ask('invoice', fake.invoice('a', [capture]))).toEqual({
      outcome: 'found',
      facts: [],
      lookups: [{ object: 'payment', id: capture }],
    })
  })
})
