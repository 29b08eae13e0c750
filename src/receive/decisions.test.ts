import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop } from '../../test/stripe-shop.ts'
import { audit } from '../audit/audit.ts'
import { stripeEvents } from '../providers/stripe/index.ts'
import type { Database } from '../store/database.ts'
import type { DecisionRequest } from './decisions.ts'

function open(database: Database) {
  const shop = openShop(database)
  const decide = (decision: DecisionRequest['decision'], more: Partial<DecisionRequest> = {}) =>
    shop.paidonce.decisions.make({ order: 'A-1', decision, actor: 'ann', reason: 'agreed', ...more })
  return { ...shop, decide }
}

const rows = (database: Database, text: string) => database.query({ name: '', text })
const rights = (database: Database) =>
  rows(
    database,
    'select o.reference, e.state, e.revision from entitlements e join orders o on o.id = e.order_id order by 1',
  )
const exceptions = async (database: Database) =>
  (await rows(database, "select kind, cause from exceptions where state = 'open' order by kind")) as {
    kind: string
    cause: string
  }[]

withDatabases('a person’s decision', (openDatabase) => {
  it('accepts a payment that is short: granted in the same transaction, with an effect, and the exception closes', async () => {
    const database = await openDatabase()
    const { order, deliver, decide } = open(database)
    await order('A-1')
    await deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 1_800n, order: 'A-1' }))
    expect(await exceptions(database)).toEqual([{ kind: 'underpayment', cause: '-' }])
    await decide('accept_payment', { payment: 'pi_1' })
    expect(await rights(database)).toEqual([{ reference: 'A-1', state: 'granted', revision: 1n }])
    expect(await exceptions(database)).toEqual([])
    expect(await rows(database, "select state from effects where topic = 'entitlement.changed'")).toEqual([
      { state: 'due' },
    ])
    expect((await audit(database)).differences).toEqual([])
  })

  it('is taken back by another decision, and the access with it', async () => {
    const database = await openDatabase()
    const { order, deliver, decide } = open(database)
    await order('A-1')
    await deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 1_800n, order: 'A-1' }))
    const made = await decide('accept_payment', { payment: 'pi_1' })
    await decide('withdraw', { withdraws: made.id })
    expect(await rights(database)).toEqual([{ reference: 'A-1', state: 'none', revision: 2n }])
    expect(await exceptions(database)).toEqual([{ kind: 'underpayment', cause: '-' }])
    await expect(decide('withdraw', { withdraws: made.id })).rejects.toMatchObject({ code: 'not_found' })
    expect((await audit(database)).differences).toEqual([])
  })

  it('counts a payment for the order that it was meant for, and both orders follow', async () => {
    const database = await openDatabase()
    const { order, deliver, decide } = open(database)
    for (const reference of ['A-1', 'A-2']) await order(reference)
    await deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-2' }))
    await decide('assign_order', { payment: 'stripe/default/pi_1' })
    expect(await rights(database)).toEqual([
      { reference: 'A-1', state: 'granted', revision: 1n },
      { reference: 'A-2', state: 'none', revision: 2n },
    ])
    // What its messages say later about the order changes nothing.
    await deliver(
      stripeEvents.paymentIntentSucceeded({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-2' }),
    )
    expect((await rights(database))[0]).toMatchObject({ reference: 'A-1', state: 'granted' })
    expect((await audit(database)).differences).toEqual([])
  })

  it('gives a payment without any reference to an order', async () => {
    const database = await openDatabase()
    const { order, deliver, decide } = open(database)
    await order('A-1')
    await deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 2_000n }))
    expect(await rights(database)).toEqual([])
    await decide('assign_order', { payment: 'stripe/default/pi_1' })
    expect(await rights(database)).toEqual([{ reference: 'A-1', state: 'granted', revision: 1n }])
  })

  it('asks again when a later fact contradicts what was seen, and stands meanwhile', async () => {
    const database = await openDatabase()
    const { order, deliver, decide } = open(database)
    await order('A-1')
    await deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' }))
    const made = await decide('keep_access')
    await deliver(stripeEvents.refundCreated({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' }))
    expect(await rights(database)).toEqual([{ reference: 'A-1', state: 'granted', revision: 1n }])
    expect(await exceptions(database)).toEqual([{ kind: 'decision_outdated', cause: made.id }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('is refused when the facts have changed since they were shown', async () => {
    const database = await openDatabase()
    const { order, deliver, decide } = open(database)
    await order('A-1')
    const { based_on } = await decide('reopen')
    await deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 1_800n, order: 'A-1' }))
    await expect(decide('keep_access', { based_on })).rejects.toMatchObject({ code: 'decision_outdated' })
    expect(await rights(database)).toEqual([])
  })

  it('is refused when it makes no sense', async () => {
    const database = await openDatabase()
    const { order, decide } = open(database)
    await order('A-1')
    for (const [kind, more, code] of [
      ['reopen', { reason: ' ' }, 'decision_invalid'],
      ['reopen', { actor: '' }, 'decision_invalid'],
      ['reopen', { order: 'nobody' }, 'not_found'],
      ['accept_payment', {}, 'decision_invalid'],
      ['accept_payment', { payment: 'pi_9' }, 'not_found'],
      ['assign_order', { payment: 'stripe/default/pi_9' }, 'not_found'],
      ['write_off', {}, 'decision_invalid'],
      ['write_off', { amount_minor: 2_001n }, 'decision_invalid'],
      ['keep_access', { until: 'tomorrow' }, 'decision_invalid'],
      ['withdraw', {}, 'not_found'],
    ] as const)
      await expect(
        decide(kind, more),
        `${kind} ${JSON.stringify(more, (_, v) => `${v}`)}`,
      ).rejects.toMatchObject({ code })
    expect(await rows(database, "select 1 from facts where kind = 'decision'")).toEqual([])
  })
})
