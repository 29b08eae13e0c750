import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { gate, outbox } from '../../test/outbox.ts'
import { openShop } from '../../test/stripe-shop.ts'
import type { OutgoingEffect } from '../effects/outgoing-effect.ts'
import { checkOptions } from '../options.ts'
import { stripeEvents } from '../providers/stripe/index.ts'

withDatabases('a running installation', (open) => {
  it('P42 tells people by the ways of `alerts`, and leaves other effects to `effects`', async () => {
    const told = gate<OutgoingEffect>()
    const elsewhere: string[] = []
    const { paidonce, deliver } = openShop(await open(), {
      options: {
        alerts: { routes: [{ to: told.open, severity: 'urgent' }] },
        effects: (effect: OutgoingEffect) => void elsewhere.push(effect.topic),
      },
    })
    const work = await paidonce.startWork({ poll_ms: 10 })
    try {
      await deliver(stripeEvents.chargeSucceeded({ payment: 'pi_1', amount_minor: 1_999n, live: true }))
      expect(await told.opened).toMatchObject({
        topic: 'exception.opened',
        payload: { kind: 'event_misdirected', subject: 'stripe', severity: 'urgent' },
      })
    } finally {
      await work.stop()
    }
    expect(elsewhere).toEqual([])
    expect((await outbox(paidonce.database)).map(({ state }) => state)).toEqual(['done'])
    expect(await paidonce.exceptions.list()).toMatchObject([{ kind: 'event_misdirected', occurrence: 1 }])
  })

  it('P06 does not start with alerts or watches that cannot work', () => {
    const shop = { mode: 'test', endpoints: {} } as const
    const wrong = expect.objectContaining({ code: 'config_invalid' })
    expect(() => checkOptions({ ...shop, alerts: { routes: [] } })).toThrow(wrong)
    expect(() => checkOptions({ ...shop, watches: { dispute_days: -1 } })).toThrow(wrong)
    expect(() => checkOptions(shop)).not.toThrow()
  })
})
