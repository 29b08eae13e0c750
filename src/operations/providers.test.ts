import { afterEach, expect, it } from 'vitest'
import { withPglite } from '../../test/database.ts'
import { alarms, type Clock, HOUR_MS, operationShop, rows } from '../../test/operation-shop.ts'
import { type Toy, toy, toyPaid, toyPayment } from '../../test/toy-provider.ts'
import { refundMilestone } from '../facts/refund.ts'
import type { IdempotencyRules } from '../providers/capability.ts'
import type { Provider } from '../providers/contract.ts'
import { startFakeDodo } from '../providers/dodo-payments/fake.ts'
import { dodoPayments } from '../providers/dodo-payments/index.ts'
import { SECRET as DODO_SECRET } from '../providers/dodo-payments/told.ts'
import type { Lookup, OperationAnswer, RefundRequest } from '../providers/lookup.ts'
import { startFakePaddle } from '../providers/paddle/fake.ts'
import { paddle } from '../providers/paddle/index.ts'
import { SECRET as PADDLE_SECRET } from '../providers/paddle/told.ts'
import { endpointOf } from '../providers/paypal/asked.ts'
import { startFakePaypal } from '../providers/paypal/fake.ts'
import type { Database } from '../store/database.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const newClock = (): Clock => ({ now_ms: Date.now() })
const refundsOf = (database: Database) =>
  rows(database, "select amount_minor::text as amount from refunds where status <> 'failed'")

/** What a provider says of repeats, where nothing else is said. */
const NO_KEY: IdempotencyRules = {
  where: 'none',
  name: null,
  window_hours: null,
  repeat: 'runs_again',
  definitive_no: [],
  note: '',
}

/** A provider that refunds as told, with these rules, and can be looked up or not. */
function refunding(rules: IdempotencyRules, looks_up: boolean, answers: OperationAnswer[]) {
  const asked: RefundRequest[] = []
  const box: Toy = toy()
  const { capabilities, lookup } = box.provider
  const refund: Lookup['refund'] = async (request) => {
    asked.push(request)
    return answers.shift() ?? { outcome: 'unknown', reason: 'no answer' }
  }
  const provider: Provider = {
    ...box.provider,
    capabilities: {
      ...capabilities,
      lookup_by_payment: looks_up,
      idempotency: { refund: rules, charge: null },
    },
    lookup: { ...lookup!, refund },
  }
  return { box, provider, asked }
}

async function toyShop(database: Database, clock: Clock, provider: Provider, box: Toy) {
  const shop = operationShop(database, clock, { endpoints: { toy: provider } })
  await shop.order('A-1')
  box.api.answer = (id) => toyPaid(id, 2_000n, 'A-1')
  const hint = box.hint('e1', 'p1', 'A-1')
  await shop.paidonce.receive({ endpoint: 'toy', ...hint, headers: { 'x-toy': 'good' } })
  await shop.paidonce.lookups.runOnce()
  return shop
}

const UNKNOWN: OperationAnswer = { outcome: 'unknown', reason: 'connection reset' }
const done = (refund: string): OperationAnswer => ({
  outcome: 'accepted',
  provider_id: refund,
  facts: [
    refundMilestone(toyPayment('p1'), {
      refund,
      milestone: 'succeeded',
      amount_minor: 2_000n,
      currency: 'USD',
    }),
  ],
})
const ALL = { key: 'all', payment: 'p1' }

withPglite('an unknown refund', (database_of) => {
  it('P38 waits for a person where the provider has neither keys nor look-ups, and is never repeated', async () => {
    const database = await database_of()
    const clock = newClock()
    const { box, provider, asked } = refunding(NO_KEY, false, [UNKNOWN])
    const shop = await toyShop(database, clock, provider, box)
    await shop.operations.refund(ALL)
    await shop.run(48)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ payment: 'p1', amount_minor: 2_000n, full: true })
    expect(await shop.operations.show('all')).toMatchObject({ state: 'unknown', waits_for_person: true })
    expect(await alarms(database)).toEqual([{ kind: 'operation_unknown' }])
    // The money stays reserved meanwhile.
    await expect(shop.operations.refund({ ...ALL, key: 'more' })).rejects.toMatchObject({
      code: 'operation_refused',
    })
    const said = { key: 'all', actor: 'ada', reason: 'seen in the dashboard as r1' }
    await shop.operations.resolve({ ...said, outcome: 'succeeded', provider_id: 'r1' })
    await shop.run(3)
    expect(await shop.operations.show('all')).toMatchObject({ state: 'succeeded', provider_id: 'r1' })
    expect(await alarms(database)).toEqual([])
    await expect(shop.operations.refund({ ...ALL, key: 'more' })).rejects.toMatchObject({
      code: 'operation_refused',
    })
    expect(asked).toHaveLength(1)
  })

  it('P37 is repeated under its key only inside the window, with exactly the same request', async () => {
    const database = await database_of()
    const clock = newClock()
    const keyed: IdempotencyRules = {
      ...NO_KEY,
      where: 'header',
      name: 'Key',
      window_hours: 10,
      repeat: 'same_answer',
    }
    const { box, provider, asked } = refunding(keyed, false, [])
    const shop = await toyShop(database, clock, provider, box)
    await shop.operations.refund(ALL)
    await shop.run(60)
    expect(asked.length).toBeGreaterThan(3)
    expect(asked.length).toBeLessThan(11)
    expect(
      new Set(asked.map((request) => JSON.stringify(request, (_, v) => (typeof v === 'bigint' ? `${v}` : v))))
        .size,
    ).toBe(1)
    expect(await shop.operations.show('all')).toMatchObject({ state: 'unknown', waits_for_person: true })
  })

  it('P37 is not repeated by a worker that was asleep while the window closed', async () => {
    const database = await database_of()
    const clock = newClock()
    const keyed: IdempotencyRules = { ...NO_KEY, where: 'header', window_hours: 10, repeat: 'same_answer' }
    const { box, provider, asked } = refunding(keyed, false, [UNKNOWN])
    const shop = await toyShop(database, clock, provider, box)
    await shop.operations.refund(ALL)
    await shop.worker.runOnce()
    clock.now_ms += HOUR_MS
    const sleepy = shop.newWorker({
      onBoundary: (boundary) => {
        if (boundary === 'begun') clock.now_ms += 20 * HOUR_MS
      },
    })
    await sleepy.runOnce()
    expect(asked).toHaveLength(1)
    expect(await shop.operations.show('all')).toMatchObject({
      state: 'unknown',
      requests: [{ outcome: 'unknown' }, { outcome: 'not_sent' }],
    })
  })

  it('is never sent twice in one go where the adapter looks first, and is repeated after a pause', async () => {
    const database = await database_of()
    const clock = newClock()
    const { box, provider, asked } = refunding({ ...NO_KEY, looks_first: true }, false, [UNKNOWN, done('r1')])
    const shop = await toyShop(database, clock, provider, box)
    await shop.operations.refund(ALL)
    await shop.worker.runOnce()
    clock.now_ms += 10_000
    await shop.worker.runOnce()
    expect(asked).toHaveLength(1)
    await shop.run(2)
    expect(asked).toHaveLength(2)
    expect(await shop.operations.show('all')).toMatchObject({ state: 'succeeded', provider_id: 'r1' })
  })

  it('raises what a provider seems to have done twice', async () => {
    const database = await database_of()
    const clock = newClock()
    const keyed: IdempotencyRules = { ...NO_KEY, where: 'header', window_hours: 24, repeat: 'same_answer' }
    const { box, provider } = refunding(keyed, false, [done('r2'), done('r1')])
    const shop = await toyShop(database, clock, provider, box)
    await shop.operations.refund(ALL)
    const second = shop.newWorker()
    let away = true
    const slow = shop.newWorker({
      onBoundary: async (boundary) => {
        if (boundary !== 'answered' || !away) return
        away = false
        clock.now_ms += HOUR_MS
        await second.runOnce()
      },
    })
    await slow.runOnce()
    expect(await alarms(database)).toEqual([{ kind: 'operation_unknown' }])
    expect(await rows(database, "select cause from exceptions where subject_kind = 'operation'")).toEqual([
      { cause: 'twice' },
    ])
  })

  it('calls a refund failed that the provider made and that failed at once, and frees its money', async () => {
    const database = await database_of()
    const clock = newClock()
    const failed: OperationAnswer = {
      outcome: 'accepted',
      provider_id: 'r1',
      facts: [
        refundMilestone(toyPayment('p1'), {
          refund: 'r1',
          milestone: 'failed',
          amount_minor: 2_000n,
          currency: 'USD',
        }),
      ],
    }
    const { box, provider } = refunding(NO_KEY, false, [failed, done('r2')])
    const shop = await toyShop(database, clock, provider, box)
    await shop.operations.refund(ALL)
    await shop.run(2)
    expect(await shop.operations.show('all')).toMatchObject({
      state: 'failed_definitive',
      code: 'failed_at_provider',
    })
    expect(await alarms(database)).toEqual([{ kind: 'operation_failed' }])
    await shop.operations.refund({ ...ALL, key: 'other way' })
    await shop.run(2)
    expect(await shop.operations.show('other way')).toMatchObject({ state: 'succeeded' })
  })
})

withPglite('through the official SDKs', (database_of) => {
  it('Dodo Payments: a lost answer gives back once, since ours is looked for first', async () => {
    const database = await database_of()
    const clock = newClock()
    const fake = await startFakeDodo({ now_ms: () => clock.now_ms })
    closing.push(fake.close)
    const provider = dodoPayments({
      webhookSecrets: DODO_SECRET,
      apiKey: 'dodo_test_key',
      baseUrl: fake.url,
    })
    const shop = operationShop(database, clock, { endpoints: { dodo: provider } })
    await shop.order('A-1', 2_165n)
    fake.setPayment({
      payment: 'pay_1',
      amount: 2165,
      currency: 'USD',
      tax: 165,
      order: 'A-1',
      status: 'succeeded',
    })
    expect(await shop.paidonce.lookup('dodo', 'payment', 'pay_1')).toBe('found')
    await shop.operations.refund({ key: 'all', payment: 'pay_1' })
    await loseOnce(shop.newWorker, provider, 'refund')
    expect(await shop.operations.show('all')).toMatchObject({ state: 'unknown' })
    await shop.run(3)
    expect(await shop.operations.show('all')).toMatchObject({ state: 'succeeded' })
    expect(fake.messages.filter(({ type }) => type === 'refund.succeeded')).toHaveLength(1)
    expect(await refundsOf(database)).toHaveLength(1)
  })

  it('Paddle: a lost answer gives back once, and the pending refund reserves its money', async () => {
    const database = await database_of()
    const clock = newClock()
    const fake = await startFakePaddle(() => clock.now_ms)
    closing.push(fake.close)
    const provider = paddle({
      webhookSecrets: PADDLE_SECRET,
      apiKey: 'pdl_sdbx_apikey_01forTestsOnly',
      baseUrl: fake.url,
    })
    const shop = operationShop(database, clock, { endpoints: { paddle: provider } })
    const payment = fake.open({
      seed: 'one',
      order: 'A-1',
      amount_minor: 2_400n,
      tax_minor: 400n,
      currency: 'EUR',
    })
    fake.pay(payment)
    expect(await shop.paidonce.lookup('paddle', 'transaction', payment)).toBe('found')
    await shop.operations.refund({ key: 'all', payment })
    await loseOnce(shop.newWorker, provider, 'refund')
    expect(await shop.operations.show('all')).toMatchObject({ state: 'unknown' })
    await shop.run(3)
    expect(await shop.operations.show('all')).toMatchObject({ state: 'succeeded' })
    expect(fake.waiting()).toHaveLength(1)
    await expect(shop.operations.refund({ key: 'more', payment })).rejects.toMatchObject({
      code: 'operation_refused',
    })
  })

  it('PayPal: a lost answer is repeated under the same key and counted once', async () => {
    const database = await database_of()
    const clock = newClock()
    const fake = await startFakePaypal(() => clock.now_ms)
    closing.push(fake.close)
    const provider = endpointOf(fake)
    const shop = operationShop(database, clock, { endpoints: { paypal: provider } })
    const payment = fake.pay({ seed: 'a', amount_minor: 2_500n, currency: 'EUR', order: 'ORD-1' })
    expect(await shop.paidonce.lookup('paypal', 'capture', payment)).toBe('found')
    await shop.operations.refund({ key: 'part', payment, amount_minor: 1_000n })
    await loseOnce(shop.newWorker, provider, 'refund')
    expect(await shop.operations.show('part')).toMatchObject({ state: 'unknown' })
    await shop.run(3)
    expect(await shop.operations.show('part')).toMatchObject({ state: 'succeeded' })
    expect(await refundsOf(database)).toEqual([{ amount: '1000' }])
  })
})

/** A worker whose process is gone once the provider has answered. */
async function loseOnce(
  newWorker: ReturnType<typeof operationShop>['newWorker'],
  provider: Provider,
  kind: 'refund',
): Promise<void> {
  const { lookup } = provider as { lookup: { refund: Lookup['refund'] } }
  const send = lookup[kind]!
  lookup[kind] = async (request, context) => {
    await send(request, context)
    return { outcome: 'unknown', reason: 'the answer was lost' }
  }
  await newWorker().runOnce()
  lookup[kind] = send
}
