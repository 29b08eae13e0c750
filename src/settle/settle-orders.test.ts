import { describe, expect, it } from 'vitest'
import { withDatabases, withPostgres } from '../../test/database.ts'
import { BUCKET, Merchant } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import type { Fact } from '../facts/fact.ts'
import { type OrderTerms, orderClosed, orderTerms } from '../facts/order.ts'
import { paymentLink, paymentMilestone } from '../facts/payment.ts'
import { refundMilestone } from '../facts/refund.ts'
import type { SettleItem } from './item.ts'
import { SETTLE_DEFAULTS, settle } from './settle.ts'

const TERMS: OrderTerms = {
  amount_minor: 1999n,
  currency: 'USD',
  items: [{ item: 'licence', quantity: 1 }],
}
const GRANTED = ['A-1 licence granted']
const ANNOUNCED = ['entitlement.changed licence 1 due', 'receipt.due - 0 due']

function paid(merchant: Merchant, id: string, order: string | undefined = 'A-1', amount_minor = 1999n): Fact {
  const content = { milestone: 'succeeded', amount_minor, currency: 'USD', order } as const
  return paymentMilestone(merchant.payment(id), { ...content, moved_at: '2026-01-01T00:00:00Z' })
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  )
}

withDatabases('settling orders', (open) => {
  it('P25 case-26 seq-33 parks a payment whose order nobody registered, and applies it once when it appears', async () => {
    const merchant = new Merchant(await open())
    expect(await merchant.outcomes(merchant.event('evt_1', [paid(merchant, 'pi_1')]))).toEqual(['settled'])
    expect(await merchant.rights()).toEqual([])
    expect(await merchant.exceptions()).toEqual(['unknown_order -'])
    const alert = `effects where tenant = $1 and topic = 'exception.opened' and state = 'due' and available_at > now()`
    expect(await merchant.count(alert)).toBe(1)

    expect(await merchant.outcomes(merchant.order('A-1', TERMS))).toEqual(['settled'])
    expect(await merchant.rights()).toEqual(GRANTED)
    expect(await merchant.effects()).toEqual(ANNOUNCED)
    expect(await merchant.exceptions()).toEqual([])
    // Nobody heard of it, so there is nobody to tell that it is over.
    expect(await merchant.count(alert)).toBe(0)

    await merchant.outcomes(merchant.order('A-1', TERMS), merchant.event('evt_1', [paid(merchant, 'pi_1')]))
    expect(await merchant.effects()).toEqual(ANNOUNCED)
  })

  it('P25 grants alike when order and payment come in either order, or in one batch', async () => {
    const database = await open()
    for (const roads of [0, 1, 2, 3]) {
      const merchant = new Merchant(database)
      const items = [merchant.order('A-1', TERMS), merchant.event('evt_1', [paid(merchant, 'pi_1')])]
      if (roads % 2 === 1) items.reverse()
      if (roads < 2) await merchant.settle(...items)
      else for (const item of items) await merchant.settle(item)
      expect(await merchant.rights()).toEqual(GRANTED)
      expect(await merchant.effects()).toEqual(ANNOUNCED)
    }
  })

  it('P17 refuses other terms for a registered order, and the neighbours settle', async () => {
    const merchant = new Merchant(await open())
    await merchant.settle(merchant.order('A-1', TERMS))
    const outcomes = await merchant.outcomes(
      merchant.order('A-1', { ...TERMS, amount_minor: 1n }),
      merchant.order('A-2', TERMS),
      merchant.event('evt_1', [paid(merchant, 'pi_1', 'A-2')]),
    )
    expect(outcomes).toEqual(['order_conflict', 'settled', 'settled'])
    expect(await merchant.rights()).toEqual(['A-2 licence granted'])
    await merchant.settle(merchant.event('evt_2', [paid(merchant, 'pi_2', 'A-1', 1n)]))
    expect(await merchant.rights()).toEqual(['A-2 licence granted'])
  })

  it('P17 refuses the second of two registrations of one order with different terms in one batch', async () => {
    const merchant = new Merchant(await open())
    const outcomes = await merchant.outcomes(
      merchant.order('A-1', TERMS),
      merchant.order('A-1', { ...TERMS, amount_minor: 1n }),
    )
    expect(outcomes).toEqual(['settled', 'order_conflict'])
    expect(await merchant.count(`orders where tenant = $1 and amount_minor = 1999`)).toBe(1)
  })

  it('P17 case-32 case-33 holds money of the wrong amount or currency for a person', async () => {
    const merchant = new Merchant(await open())
    await merchant.settle(merchant.order('A-1', TERMS), merchant.order('A-2', TERMS))
    const vnd = { milestone: 'succeeded', amount_minor: 1999n, currency: 'VND', order: 'A-2' } as const
    await merchant.settle(
      merchant.event('evt_1', [paid(merchant, 'pi_1', 'A-1', 1998n)]),
      merchant.event('evt_2', [paymentMilestone(merchant.payment('pi_2'), vnd)]),
    )
    expect(await merchant.rights()).toEqual([])
    expect(await merchant.exceptions()).toEqual(['currency_mismatch pi_2', 'underpayment -'])
  })

  it('P15 P52 case-17 takes session, intent, charge and invoice of one payment as one, in every order', async () => {
    const database = await open()
    const told = (merchant: Merchant): SettleItem[] => [
      merchant.event('evt_session', [paid(merchant, 'cs_1'), paymentLink(merchant.payment('cs_1'), 'pi_1')]),
      merchant.event('evt_intent', [paid(merchant, 'pi_1', undefined)]),
      merchant.event('evt_charge', [
        paymentMilestone(merchant.payment('pi_1'), {
          milestone: 'succeeded',
          attempt: 'ch_1',
          amount_minor: 1999n,
          currency: 'USD',
        }),
      ]),
      merchant.order('A-1', TERMS),
    ]
    for (const order of permutations([0, 1, 2, 3])) {
      for (const together of [true, false]) {
        const merchant = new Merchant(database)
        const items = told(merchant)
        const arrived = order.map((index) => items[index]!)
        if (together) await merchant.settle(...arrived)
        else for (const item of arrived) await merchant.settle(item)
        expect(await merchant.rights(), `${order}`).toEqual(GRANTED)
        expect(await merchant.effects(), `${order}`).toEqual(ANNOUNCED)
        expect(await merchant.exceptions(), `${order}`).toEqual([])
        expect(
          await merchant.count(`payments where tenant = $1 and captured_minor > 0 and status <> 'linked'`),
          `${order}`,
        ).toBe(1)
        const own = `payments p join orders o on p.id = any(o.payment_ids) where o.tenant = $1 and p.status = 'linked'`
        expect(await merchant.count(own), `${order}`).toBe(0)
      }
    }
  })

  it('P15 case-17 grants once when all of them come at once through several processes', async () => {
    const database = await open()
    for (let round = 0; round < 10; round += 1) {
      const first = new Merchant(database)
      await first.settle(first.order('A-1', TERMS))
      const merchants = [
        first,
        new Merchant(database, { tenant: first.tenant }),
        new Merchant(database, { tenant: first.tenant }),
      ]
      const link = paymentLink(first.payment('cs_1'), 'pi_1')
      const facts = [[paid(first, 'cs_1'), link], [paid(first, 'pi_1', undefined)], [paid(first, 'pi_1')]]
      const outcomes = await Promise.all(
        merchants.map((merchant, index) => merchant.outcomes(merchant.event(`evt_${index}`, facts[index]!))),
      )
      expect(outcomes.flat()).toEqual(['settled', 'settled', 'settled'])
      expect(await first.rights()).toEqual(GRANTED)
      expect(await first.effects()).toEqual(ANNOUNCED)
    }
  })

  it('P52 keeps the right that a stand-in gave when a link tells whose money it was', async () => {
    const merchant = new Merchant(await open())
    await merchant.settle(merchant.order('A-1', TERMS), merchant.event('evt_1', [paid(merchant, 'cs_1')]))
    expect(await merchant.rights()).toEqual(GRANTED)
    await merchant.settle(merchant.event('evt_2', [paymentLink(merchant.payment('cs_1'), 'pi_1')]))
    await merchant.settle(merchant.event('evt_3', [paid(merchant, 'pi_1')]))
    expect(await merchant.rights()).toEqual(GRANTED)
    expect(await merchant.effects()).toEqual(ANNOUNCED)
    const sums = 'orders where tenant = $1 and net_minor = 1999 and surplus_minor = 0'
    expect(await merchant.count(sums)).toBe(1)
  })

  it('P08 keeps a refund that comes after, before and together with its payment', async () => {
    const database = await open()
    const refunded = (merchant: Merchant) =>
      refundMilestone(merchant.payment('pi_1'), {
        refund: 're_1',
        milestone: 'succeeded',
        amount_minor: 1999n,
        currency: 'USD',
      })
    for (const order of permutations([0, 1, 2])) {
      for (const together of [true, false]) {
        const merchant = new Merchant(database)
        const items = [
          merchant.order('A-1', TERMS),
          merchant.event('evt_1', [paid(merchant, 'pi_1')]),
          merchant.event('evt_2', [refunded(merchant)]),
        ]
        const arrived = order.map((index) => items[index]!)
        if (together) await merchant.settle(...arrived)
        else for (const item of arrived) await merchant.settle(item)
        expect(await merchant.count(`refunds where tenant = $1 and status = 'succeeded'`)).toBe(1)
        expect(
          await merchant.count(`orders where tenant = $1 and status = 'refunded' and net_minor = 0`),
        ).toBe(1)
        expect(
          await merchant.count(
            `entitlements e join orders o on o.id = e.order_id where o.tenant = $1 and e.state = 'granted'`,
          ),
        ).toBe(0)
      }
    }
  })

  it('P29 case-49 never settles the order of another tenant', async () => {
    const database = await open()
    const mine = new Merchant(database)
    const theirs = new Merchant(database)
    await theirs.settle(theirs.order('A-1', TERMS))
    await mine.settle(mine.event('evt_1', [paid(mine, 'pi_1')]))
    expect(await theirs.rights()).toEqual([])
    expect(await mine.exceptions()).toEqual(['unknown_order -'])
    // The same ids elsewhere are another event and another payment.
    expect(await theirs.outcomes(theirs.event('evt_1', [paid(theirs, 'pi_1')]))).toEqual(['settled'])
    expect(await theirs.rights()).toEqual(GRANTED)
  })
})

withDatabases('one event id with other content', (open) => {
  const again = (merchant: Merchant, facts: readonly Fact[], body: string) =>
    merchant.event('evt_1', facts, { body: Buffer.from(body) })

  for (const together of [false, true]) {
    const how = together ? 'in one batch' : 'later'
    const tell = async (merchant: Merchant, ...items: SettleItem[]) => {
      if (together) return merchant.outcomes(...items)
      const outcomes: string[] = []
      for (const item of items) outcomes.push(...(await merchant.outcomes(item)))
      return outcomes
    }

    it(`P14 is kept as another version and raises nothing when it tells the same, ${how}`, async () => {
      const merchant = new Merchant(await open())
      await merchant.settle(merchant.order('A-1', TERMS))
      const outcomes = await tell(
        merchant,
        again(merchant, [paid(merchant, 'pi_1')], 'one'),
        again(merchant, [paid(merchant, 'pi_1')], 'two'),
        again(merchant, [paid(merchant, 'pi_1')], 'two'),
      )
      expect(outcomes).toEqual(['settled', 'settled', 'duplicate'])
      expect(await merchant.exceptions()).toEqual([])
      expect(await merchant.rights()).toEqual(GRANTED)
      expect(
        await merchant.count('event_versions v join events e on e.id = v.event_id where e.tenant = $1'),
      ).toBe(1)
      expect(await merchant.count('facts f join payments p on p.id = f.subject_id where p.tenant = $1')).toBe(
        1,
      )
    })

    it(`P14 is raised when it tells something else, and neither wins, ${how}`, async () => {
      const database = await open()
      for (const reversed of [false, true]) {
        const merchant = new Merchant(database)
        await merchant.settle(merchant.order('A-1', TERMS))
        const items = [
          again(merchant, [paid(merchant, 'pi_1')], 'one'),
          again(merchant, [paid(merchant, 'pi_1', 'A-1', 1n)], 'two'),
        ]
        await tell(merchant, ...(reversed ? items.reverse() : items))
        const raised = (await merchant.exceptions()).map((exception) => exception.split(' ')[0])
        expect(raised).toContain('event_content_changed')
        expect(raised).toContain('fact_conflict')
        expect(await merchant.count(`payments where tenant = $1 and status = 'conflicted'`)).toBe(1)
        expect(await merchant.count(`orders where tenant = $1 and status = 'on_hold'`)).toBe(1)
      }
    })

    it(`P14 loses nothing when it tells of a payment that the first did not name, ${how}`, async () => {
      const database = await open()
      const merchant = new Merchant(database)
      await merchant.settle(merchant.order('A-1', TERMS))
      const items = [again(merchant, [], 'one'), again(merchant, [paid(merchant, 'pi_1')], 'two')]
      expect(await tell(merchant, ...items)).toEqual(['settled', 'settled'])
      expect(await merchant.rights()).toEqual(GRANTED)
      expect((await audit(database)).differences).toEqual([])
    })
  }

  it('P14 keeps both bodies byte for byte', async () => {
    const merchant = new Merchant(await open())
    await merchant.settle(again(merchant, [], 'one \u00e9'), again(merchant, [], 'two\r\n'))
    const bodies = await merchant.rows<{ body: Buffer }>(
      `select body from events where tenant = $1
       union all select v.body from event_versions v join events e on e.id = v.event_id where e.tenant = $1`,
      [merchant.tenant],
    )
    expect(bodies.map(({ body }) => body.toString())).toEqual(['one \u00e9', 'two\r\n'])
  })
})

withDatabases('orders found in the merchant’s own tables', (open) => {
  const found = async (references: readonly string[]) =>
    new Map(references.map((reference) => [reference, TERMS]))

  it('P25 are pinned and granted in the settle that asks', async () => {
    const asked: string[][] = []
    const findOrders = async (references: readonly string[]) => {
      asked.push([...references])
      return found(references)
    }
    const merchant = new Merchant(await open(), { findOrders })
    expect(await merchant.outcomes(merchant.event('evt_1', [paid(merchant, 'pi_1')]))).toEqual(['settled'])
    expect(await merchant.rights()).toEqual(GRANTED)
    await merchant.settle(merchant.event('evt_2', [paid(merchant, 'pi_2')]))
    expect(asked).toEqual([['A-1']])
  })

  it('stay closed when they were closed before they were found', async () => {
    const merchant = new Merchant(await open(), { findOrders: async () => new Map() })
    const closing = orderClosed(
      { kind: 'order', reference: 'A-1' },
      { how: 'canceled', by: 'person', at: '2025-12-01T00:00:00Z' },
    )
    await merchant.settle(merchant.states(closing))
    const later = new Merchant(merchant.database, { tenant: merchant.tenant, findOrders: found })
    expect(await later.outcomes(later.event('evt_1', [paid(later, 'pi_1')]))).toEqual(['settled'])
    expect(await later.rights()).toEqual([])
    expect((await later.exceptions()).map((exception) => exception.split(' ')[0])).toEqual([
      'paid_after_close',
    ])
  })

  it('can be closed in the settle that finds them', async () => {
    const merchant = new Merchant(await open(), { findOrders: found })
    const closing = orderClosed(
      { kind: 'order', reference: 'A-1' },
      { how: 'canceled', by: 'person', at: '2025-12-01T00:00:00Z' },
    )
    expect(await merchant.outcomes(merchant.states(closing))).toEqual(['settled'])
    expect(await merchant.count(`orders where tenant = $1 and status = 'canceled'`)).toBe(1)
  })

  it('are found again after the settle that found them was kept', async () => {
    let failing = true
    const onEntitlement = () => {
      if (failing) throw new Error('the hook fails')
    }
    const merchant = new Merchant(await open(), { findOrders: found, onEntitlement })
    expect(await merchant.outcomes(merchant.event('evt_1', [paid(merchant, 'pi_1')]))).toEqual(['kept'])
    failing = false
    expect(await merchant.outcomes(merchant.event('evt_2', [paid(merchant, 'pi_1')]))).toEqual(['settled'])
    expect(await merchant.sweep()).toEqual(['settled'])
    expect(await merchant.rights()).toEqual(GRANTED)
    expect(await merchant.effects()).toEqual(ANNOUNCED)
  })

  it('can be registered by hand with the same terms after a kept settle pinned them', async () => {
    let failing = true
    const onEntitlement = () => {
      if (failing) throw new Error('the hook fails')
    }
    const merchant = new Merchant(await open(), { onEntitlement })
    const outcomes = await merchant.outcomes(
      merchant.order('A-1', TERMS),
      merchant.event('evt_1', [paid(merchant, 'pi_1')]),
    )
    expect(outcomes).toEqual(['kept', 'kept'])
    failing = false
    expect(await merchant.outcomes(merchant.order('A-1', TERMS))).toEqual(['settled'])
    await merchant.settle(merchant.event('evt_2', [paid(merchant, 'pi_1')]))
    for (const outcome of await merchant.sweep()) expect(outcome).toBe('settled')
    expect(await merchant.rights()).toEqual(GRANTED)
    expect(await merchant.effects()).toEqual(ANNOUNCED)
  })

  it('cost one time limit, not one each, when the look-up hangs', async () => {
    const merchant = new Merchant(await open(), {
      findOrders: () => new Promise(() => undefined),
      hook_limit_ms: 50,
    })
    const began = Date.now()
    const items = Array.from({ length: 40 }, (_, index) =>
      merchant.event(`evt_${index}`, [paid(merchant, `pi_${index}`, `A-${index}`)]),
    )
    expect(new Set(await merchant.outcomes(...items))).toEqual(new Set(['kept']))
    expect(Date.now() - began).toBeLessThan(1_000)
  })
})

withPostgres('an order that is registered while its payment is settled', (open) => {
  it('P25 case-26 is granted when both are uncommitted at the same time', async () => {
    const database = await open()
    for (const paymentFirst of [true, false]) {
      const merchant = new Merchant(database)
      const payment = merchant.event('evt_1', [paid(merchant, 'pi_1')])
      const order = merchant.order('A-1', TERMS)
      const [first, second] = paymentFirst ? [payment, order] : [order, payment]
      let other: Promise<unknown> = Promise.resolve()
      const onBoundary = async (boundary: string) => {
        if (boundary !== 'locked') return
        // The other transaction begins, takes what it can and waits for the placeholder.
        const begun = new Promise<void>((resolve) => {
          const watch = { ...SETTLE_DEFAULTS, lock_timeout_ms: 5_000 }
          other = settle(merchant.context, BUCKET, [second], {
            ...watch,
            onBoundary: (reached) => {
              if (reached === 'recorded') resolve()
            },
          })
        })
        await begun
      }
      await settle(merchant.context, BUCKET, [first], { ...SETTLE_DEFAULTS, onBoundary })
      await other
      expect(await merchant.rights()).toEqual(GRANTED)
      expect(await merchant.effects()).toEqual(ANNOUNCED)
      expect(await merchant.exceptions()).toEqual([])
    }
  })

  it('has terms from one statement only, whoever registers first', async () => {
    const merchant = new Merchant(await open())
    const other = new Merchant(merchant.database, { tenant: merchant.tenant })
    for (let round = 0; round < 20; round += 1) {
      const outcomes = await Promise.all([
        merchant.outcomes(merchant.order(`B-${round}`, TERMS)),
        other.outcomes(other.order(`B-${round}`, { ...TERMS, amount_minor: 5n })),
      ])
      expect(outcomes.flat().sort()).toEqual(['order_conflict', 'settled'])
    }
    expect(await merchant.count(`orders where tenant = $1 and status = 'on_hold'`)).toBe(0)
    expect(orderTerms({ kind: 'order', reference: 'B-0' }, TERMS).key).toBe('terms')
  })
})

describe('permutations', () => {
  it('are all of them', () => {
    expect(permutations([1, 2, 3])).toHaveLength(6)
  })
})
