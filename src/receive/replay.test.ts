import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop, SHOP_SECRET } from '../../test/stripe-shop.ts'
import { audit } from '../audit/audit.ts'
import { Fault } from '../facts/fault.ts'
import type { Provider } from '../providers/contract.ts'
import { github, marketplaceBody, signGitHub } from '../providers/github/index.ts'
import { stripe, stripeEvents } from '../providers/stripe/index.ts'
import type { Database } from '../store/database.ts'
import { replay } from './replay.ts'

const GOOD = stripe({ webhookSecrets: SHOP_SECRET })

/** A release whose adapter reads wrongly. */
function broken(change: (provider: Provider) => Partial<Provider>): Provider {
  return { ...GOOD, ...change(GOOD) }
}

const blind = broken(({ translate }) => ({
  translate: (delivery, verified) => ({
    ...translate(delivery, verified),
    outcome: 'unreadable',
    reason: 'no such field',
    facts: [],
  }),
}))

function mended(provider: Provider = GOOD): Provider {
  return { ...provider, adapter_version: 2 }
}

const SALE = { payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' }

async function rows(database: Database, text: string): Promise<unknown[]> {
  return database.query({ name: '', text })
}

function replayIn(database: Database, provider: Provider, options: Parameters<typeof replay>[3] = {}) {
  const { settler, endpoints } = openShop(database, { provider }).paidonce
  return replay(settler.context, 1, endpoints, options)
}

withDatabases('replay', (open) => {
  it('P43 P30 settles what was unreadable once the adapter reads it, and closes its exception', async () => {
    const database = await open()
    const shop = openShop(database, { provider: blind })
    await shop.order('A-1')
    expect(await shop.deliver(stripeEvents.chargeSucceeded(SALE))).toBe(200)
    expect(await rows(database, 'select state from events')).toEqual([{ state: 'unreadable' }])
    expect(await rows(database, 'select kind, state from exceptions')).toEqual([
      { kind: 'unreadable_event', state: 'open' },
    ])

    const report = await replayIn(database, mended(), { selection: { state: 'unreadable' } })
    expect(report).toMatchObject({ replayed: 1, refused: 0, kept: 0 })
    expect(report.refiled).toMatchObject([{ before: 'unreadable', after: 'settled' }])
    expect(await rows(database, 'select state, adapter_version from events')).toEqual([
      { state: 'settled', adapter_version: 2 },
    ])
    expect(await rows(database, 'select state from entitlements')).toEqual([{ state: 'granted' }])
    expect(await rows(database, 'select state from exceptions')).toEqual([{ state: 'closed' }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('keeps the exception while one unreadable event of its type is left', async () => {
    const database = await open()
    const shop = openShop(database, { provider: blind })
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    await shop.deliver(stripeEvents.chargeSucceeded({ ...SALE, payment: 'pi_2' }))
    const [first] = await database.query<{ event_key: string }>({
      name: 'test-first-event',
      text: 'select event_key from events order by id limit 1',
    })
    await replayIn(database, mended(), { selection: { key: first!.event_key } })
    const open_ones = `select kind from exceptions where state = 'open' and subject_kind = 'endpoint'`
    expect(await rows(database, open_ones)).toEqual([{ kind: 'unreadable_event' }])
  })

  it('P43 is idempotent: a second replay changes nothing', async () => {
    const database = await open()
    const shop = openShop(database)
    await shop.order('A-1')
    for (const body of [
      stripeEvents.chargeSucceeded(SALE),
      stripeEvents.paymentIntentSucceeded(SALE),
      stripeEvents.refundCreated({ ...SALE, amount_minor: 500n }),
    ]) {
      await shop.deliver(body)
    }
    const state = async () => [
      await rows(database, 'select status, captured_minor, refunded_minor, order_refs from payments'),
      await rows(database, 'select status, paid_minor, net_minor, payment_ids from orders'),
      await rows(database, 'select item, state, revision from entitlements'),
      await rows(database, 'select topic, item, cause, state from effects order by id'),
      await rows(database, 'select fact_id, source_id from witnesses order by fact_id, source_id'),
    ]
    const before = await state()
    for (const batch of [1, 2, 50]) {
      const report = await replayIn(database, GOOD, { batch })
      expect(report).toMatchObject({ replayed: 3, refusals: [], refiled: [] })
      expect(await state()).toEqual(before)
    }
    expect((await audit(database)).differences).toEqual([])
  })

  it('P43 takes back what a wrong mapping told: money, order, refund and right go where they belong', async () => {
    const database = await open()
    // This adapter takes every message to be about one order and one payment.
    const confused = broken(({ translate }) => ({
      translate: (delivery, verified) => {
        const text = Buffer.from(delivery.body).toString().replaceAll('A-2', 'A-1').replaceAll('pi_2', 'pi_1')
        return translate({ ...delivery, body: Buffer.from(text) }, verified)
      },
    }))
    const shop = openShop(database, { provider: confused })
    await shop.order('A-1')
    await shop.order('A-2')
    const second = { ...SALE, payment: 'pi_2', order: 'A-2', charge: 'ch_2' }
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    await shop.deliver(stripeEvents.chargeSucceeded(second))
    await shop.deliver(stripeEvents.refundCreated({ ...second, refund: 're_2' }))
    const rights = `select o.reference, e.state from orders o left join entitlements e on e.order_id = o.id order by 1`
    expect(await rows(database, rights)).toContainEqual({ reference: 'A-2', state: null })

    await replayIn(database, mended())
    expect(await rows(database, rights)).toEqual([
      { reference: 'A-1', state: 'granted' },
      { reference: 'A-2', state: 'revoked' },
    ])
    const payments = 'select provider_payment_id as id, refunded_minor from payments order by 1'
    expect(await rows(database, payments)).toEqual([
      { id: 'pi_1', refunded_minor: '0' },
      { id: 'pi_2', refunded_minor: '2000' },
    ])
    const refunds =
      'select p.provider_payment_id as id from refunds r join payments p on p.id = r.payment_id order by 1'
    expect(await rows(database, refunds)).toEqual([{ id: 'pi_2' }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('removes a refund that the mended adapter no longer sees', async () => {
    const database = await open()
    const shop = openShop(database)
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    await shop.deliver(stripeEvents.refundCreated(SALE))
    await shop.deliver(stripeEvents.disputeCreated(SALE))
    const deaf = broken(({ translate }) => ({
      translate: (delivery, verified) => {
        const told = translate(delivery, verified)
        const plain = told.type.startsWith('charge.succeeded')
        return plain ? told : { ...told, outcome: 'ignored', reason: 'not wanted', facts: [] }
      },
    }))
    const report = await replayIn(database, mended(deaf))
    expect(report.refiled.map(({ after }) => after)).toEqual(['ignored', 'ignored'])
    expect(await rows(database, 'select id from refunds')).toEqual([])
    expect(await rows(database, 'select id from disputes')).toEqual([])
    expect(await rows(database, 'select state from entitlements')).toEqual([{ state: 'granted' }])
    expect((await audit(database)).differences).toEqual([])
    // And the way back revives the same facts.
    await replayIn(database, mended())
    expect(await rows(database, 'select status from refunds')).toEqual([{ status: 'succeeded' }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('P43 shows in a dry run what would change, and changes nothing', async () => {
    const database = await open()
    const shop = openShop(database, { provider: blind })
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    const before = await rows(database, 'select state, adapter_version, reason from events')
    const report = await replayIn(database, mended(), { dry_run: true })
    expect(report).toMatchObject({ dry_run: true, replayed: 1 })
    expect(report.changes).toEqual(
      expect.arrayContaining([
        { table: 'orders', row: 'A-1', column: 'status', before: 'awaiting_payment', after: 'paid' },
        { table: 'entitlements', row: 'A-1 licence', column: 'state', before: null, after: 'granted' },
      ]),
    )
    expect(report.refiled).toMatchObject([{ before: 'unreadable', after: 'settled' }])
    expect(await rows(database, 'select state, adapter_version, reason from events')).toEqual(before)
    expect(await rows(database, 'select id from payments')).toEqual([])
    expect(await rows(database, `select kind from exceptions where state = 'open'`)).toHaveLength(1)
  })

  it('refuses to read with an older adapter, and leaves everything as it was', async () => {
    const database = await open()
    const shop = openShop(database, { provider: mended() })
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    const report = await replayIn(database, GOOD)
    expect(report).toMatchObject({ replayed: 0, refused: 1 })
    expect(report.refusals[0]!.reason).toContain('adapter version 2')
    expect(await rows(database, 'select state from entitlements')).toEqual([{ state: 'granted' }])
  })

  it('skips what retention emptied: its facts stay', async () => {
    const database = await open()
    const shop = openShop(database)
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    await database.script('update events set body = null')
    expect(await replayIn(database, mended())).toMatchObject({ replayed: 0, emptied: 1 })
    expect(await rows(database, 'select state from entitlements')).toEqual([{ state: 'granted' }])
  })

  it('reads every content that came under one key', async () => {
    const database = await open()
    const shop = openShop(database)
    await shop.order('A-1')
    await shop.deliver(stripeEvents.refundCreated({ ...SALE, event: 'evt_1', status: 'pending' }))
    await shop.deliver(stripeEvents.refundCreated({ ...SALE, event: 'evt_1', status: 'succeeded' }))
    const told = "select source_version as version from witnesses where source_kind = 'event' order by 1"
    const before = await rows(database, told)
    expect(before).toContainEqual({ version: 2 })
    await replayIn(database, mended(), { batch: 1 })
    expect(await rows(database, told)).toEqual(before)
    expect(await rows(database, 'select status from refunds')).toEqual([{ status: 'succeeded' }])
  })

  it('says when nothing has the key that was asked for', async () => {
    const database = await open()
    const asked = replayIn(database, GOOD, { selection: { key: 'evt_nowhere' } })
    await expect(asked).rejects.toThrow(Fault)
    await expect(asked).rejects.toMatchObject({ code: 'replay_refused' })
  })

  it('P57 keeps the order of an event whose hook fails, and the event stays marked', async () => {
    const database = await open()
    const shop = openShop(database, { provider: blind })
    await shop.order('A-1')
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    const closed = openShop(database, {
      provider: mended(),
      options: {
        onEntitlement: () => {
          throw new Error('closed for stocktaking')
        },
      },
    }).paidonce
    const report = await replay(closed.settler.context, 1, closed.endpoints)
    expect(report.kept).toBe(1)
    expect(await rows(database, 'select state from events')).toEqual([{ state: 'kept' }])
    expect(await rows(database, 'select last_error from unsettled')).toEqual([
      { last_error: 'closed for stocktaking' },
    ])
    // The next replay, with the hook mended, answers the mark.
    await replayIn(database, mended())
    expect(await rows(database, 'select id from unsettled')).toEqual([])
    expect(await rows(database, 'select state from events')).toEqual([{ state: 'settled' }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('reads subscriptions again and finds them as they were', async () => {
    const database = await open()
    const provider = github({ webhookSecrets: SHOP_SECRET })
    const { paidonce } = openShop(database, { provider })
    const plan = { id: 1313, monthly_price_in_cents: 4_900 }
    for (const [action, effective_date] of [
      ['purchased', '2026-03-01T00:00:00Z'],
      ['cancelled', '2026-04-01T00:00:00Z'],
    ] as const) {
      const body = Buffer.from(marketplaceBody({ action, account: 990001, plan, effective_date }))
      const headers = signGitHub('marketplace_purchase', body, SHOP_SECRET)
      await paidonce.receive({ endpoint: 'stripe', method: 'POST', headers, body })
    }
    const state = () => rows(database, 'select provider_subscription_id, status from subscriptions')
    const before = await state()
    expect(before).toHaveLength(1)
    const report = await replayIn(database, provider)
    expect(report).toMatchObject({ replayed: 2, refused: 0, kept: 0, changes: [] })
    expect(await state()).toEqual(before)
    expect((await audit(database)).differences).toEqual([])
  })
})
