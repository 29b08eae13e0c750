import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { attempt, ORDER, refund, whole } from '../../test/history/shorthand.ts'
import { Merchant } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import type { Fact } from '../facts/fact.ts'
import { type OrderTerms, orderTerms } from '../facts/order.ts'

const TERMS: OrderTerms = { amount_minor: 10000n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }
const ANNOUNCED = ['entitlement.changed licence 1 due', 'receipt.due - 0 due']
const paid = whole('succeeded', 10000n, { order: 'A-17', moved_at: '2025-03-01T10:00:00Z' })

/** Tells each message by itself, under an id of its own. */
async function tell(merchant: Merchant, messages: Readonly<Record<string, readonly Fact[]>>): Promise<void> {
  for (const [id, facts] of Object.entries(messages)) {
    expect(await merchant.outcomes(merchant.event(id, facts))).toEqual(['settled'])
  }
}

withDatabases('what was settled before', (open) => {
  const ordered = async (options = {}) => {
    const merchant = new Merchant(await open(), options)
    await merchant.settle(merchant.states(orderTerms(ORDER, TERMS)))
    return merchant
  }
  const audited = async (merchant: Merchant) =>
    expect((await audit(merchant.database)).differences).toEqual([])

  it('case-15 pays and grants nothing again when its event is forgotten and comes once more', async () => {
    const merchant = await ordered()
    await tell(merchant, { evt_1: [paid], evt_2: [refund('re_1', 'succeeded', 3000n)] })
    await merchant.rows('delete from events where tenant = $1', [merchant.tenant])
    await tell(merchant, { evt_1: [paid], evt_2: [refund('re_1', 'succeeded', 3000n)] })
    expect(await merchant.effects()).toEqual(ANNOUNCED)
    expect(
      await merchant.count('payments where tenant = $1 and captured_minor = 10000 and refunded_minor = 3000'),
    ).toBe(1)
    expect(await merchant.count('facts f join payments p on p.id = f.subject_id where p.tenant = $1')).toBe(2)
  })

  it('case-17 sends one receipt, whichever of the events tells of the payment first', async () => {
    for (const first of [
      whole('succeeded', 10000n, { order: 'A-17' }),
      attempt('ch_1', 'succeeded', 10000n),
    ]) {
      const merchant = new Merchant(await open())
      await merchant.settle(merchant.states(orderTerms(ORDER, TERMS)))
      await tell(merchant, { evt_1: [first], evt_2: [attempt('ch_1', 'succeeded', 10000n)], evt_3: [paid] })
      expect(await merchant.effects()).toEqual(ANNOUNCED)
    }
  })

  it('seq-17 changes no amount when a batch of captures and refunds is worked off once more', async () => {
    const merchant = await ordered()
    const batch = () => [
      merchant.event('evt_1', [attempt('ch_1', 'succeeded', 6000n, { order: 'A-17' })]),
      merchant.event('evt_2', [attempt('ch_2', 'succeeded', 4000n, { order: 'A-17' })]),
      merchant.event('evt_3', [refund('re_1', 'succeeded', 1000n)]),
      merchant.event('evt_4', [refund('re_2', 'succeeded', 1000n)]),
    ]
    await merchant.settle(...batch())
    const amounts = 'payments where tenant = $1 and captured_minor = 10000 and refunded_minor = 2000'
    expect(await merchant.count(amounts)).toBe(1)
    const again = new Merchant(merchant.database, { tenant: merchant.tenant })
    expect(new Set(await again.outcomes(...batch(), ...batch()))).toEqual(new Set(['duplicate']))
    // The same under other ids, as a second endpoint or a replaying workflow tells it.
    const renamed = batch().map((item, place) => again.event(`again_${place}`, item.facts))
    expect(new Set(await again.outcomes(...renamed))).toEqual(new Set(['settled']))
    expect(await merchant.count(amounts)).toBe(1)
    const further = ['one', 'two'].map((id) => again.event(id, [refund('re_3', 'succeeded', 500n)]))
    expect(await again.outcomes(...further)).toEqual(['settled', 'settled'])
    expect(await merchant.count(amounts.replace('2000', '2500'))).toBe(1)
    expect(await merchant.effects()).toEqual(ANNOUNCED)
    await audited(merchant)
  })

  it('case-22 seq-05 gives access back once when the refund fails, and sends no second receipt', async () => {
    const merchant = await ordered()
    await tell(merchant, { evt_1: [paid] })
    await merchant.rows(
      `update effects set state = 'done', attempts = 1, finished_at = now() where tenant = $1`,
      [merchant.tenant],
    )
    await tell(merchant, { evt_2: [refund('re_1', 'succeeded', 10000n)] })
    expect(await merchant.rights()).toEqual(['A-17 licence revoked'])
    await tell(merchant, { evt_3: [refund('re_1', 'failed')], evt_4: [refund('re_1', 'failed', 10000n)] })
    expect(await merchant.rights()).toEqual(['A-17 licence granted'])
    expect(await merchant.effects()).toEqual([
      'entitlement.changed licence 1 done',
      'entitlement.changed licence 2 superseded',
      'entitlement.changed licence 3 due',
      'receipt.due - 0 done',
    ])
    await audited(merchant)
  })

  it('case-22 case-27 sends the receipt that a refund stopped once the refund fails', async () => {
    const merchant = await ordered()
    await tell(merchant, { evt_1: [paid], evt_2: [refund('re_1', 'succeeded', 10000n)] })
    expect(await merchant.effects()).toContain('receipt.due - 0 withdrawn')
    await tell(merchant, { evt_3: [refund('re_1', 'failed')] })
    expect(await merchant.effects()).toContain('receipt.due - 0 due')
    expect(await merchant.count(`effects where tenant = $1 and topic = 'receipt.due'`)).toBe(1)
  })

  it('seq-13 keeps what contradicts it, with its evidence, also where the settle cannot be finished', async () => {
    let failing = false
    const onEntitlement = () => {
      if (failing) throw new Error('the hook fails')
    }
    for (failing of [false, true]) {
      const merchant = await ordered({ onEntitlement })
      const half = attempt('ch_1', 'succeeded', 5000n, { order: 'A-17' })
      const outcomes = [
        ...(await merchant.outcomes(
          merchant.event('evt_1', [attempt('ch_1', 'succeeded', 10000n, { order: 'A-17' })]),
        )),
        ...(await merchant.outcomes(merchant.event('evt_2', [half]))),
      ]
      expect(outcomes).toEqual([failing ? 'kept' : 'settled', 'settled'])
      expect(await merchant.count('events where tenant = $1')).toBe(2)
      const told = 'witnesses w join facts f on f.id = w.fact_id join payments p on p.id = f.subject_id'
      expect(await merchant.count(`${told} where p.tenant = $1`)).toBe(2)
      expect(await merchant.count(`payments where tenant = $1 and status = 'conflicted'`)).toBe(1)
      expect((await merchant.exceptions()).map((raised) => raised.split(' ')[0])).toContain('fact_conflict')
      // Reversible, so it stays as it was: neither amount wins.
      expect(await merchant.rights()).toEqual(failing ? [] : ['A-17 licence granted'])
    }
  })

  it('seq-04 announces nothing anew when rows of an older release lack what the rules compare now', async () => {
    const merchant = await ordered()
    await tell(merchant, { evt_1: [paid], evt_2: [refund('re_1', 'succeeded', 3000n)] })
    await merchant.rows(
      `update orders set holder = null, book = jsonb_set(book, '{terms,policy}', '{}') where tenant = $1`,
      [merchant.tenant],
    )
    await merchant.rows('update payments set aftermath = null where tenant = $1', [merchant.tenant])
    await tell(merchant, { evt_3: [refund('re_2', 'succeeded', 1000n)], evt_4: [paid] })
    expect(await merchant.rights()).toEqual(['A-17 licence granted'])
    expect(await merchant.effects()).toEqual(ANNOUNCED)
    expect(await merchant.count(`orders where tenant = $1 and net_minor = 6000`)).toBe(1)
  })
})
