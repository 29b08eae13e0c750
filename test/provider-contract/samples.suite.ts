import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../src/providers/contract.ts'
import type { SampleMessage, SampleWish } from '../../src/providers/sample-maker.ts'
import { ACCEPTED, isVerified, NOW_MS, type Tested } from './subject.ts'

/** What the provider's sample maker makes. */
export function samplesSuite(tested: Tested): void {
  const { maker, specimen } = tested
  const provider = specimen.ofSamples ?? tested.provider
  const payment = maker.payment('qx1001')
  const wish = (event: string | undefined): SampleWish => ({
    event,
    order: 'A-1001',
    amount_minor: 500n,
    paid_minor: 1999n,
    currency: maker.currency,
    payment,
    live: false,
    at_s: NOW_MS / 1000 - 5,
  })
  const make = (event: string | undefined) => maker.make(wish(event), tested.secret, NOW_MS)

  it('makes payment ids and messages that are the same for the same wish', () => {
    expect(maker.payment('qx1001')).toBe(payment)
    expect(maker.payment('qx1002')).not.toBe(payment)
    for (const event of maker.events) expect(make(event)).toEqual(make(event))
    expect(make(undefined)).toEqual(make(maker.events[0]))
  })

  it('tells every step of a payment with events that it can make', () => {
    expect(maker.events.length).toBeGreaterThan(0)
    expect(maker.steps.paid.length).toBeGreaterThan(0)
    expect(maker.events).toEqual(expect.arrayContaining(Object.values(maker.steps).flat()))
  })

  describe.each(maker.events)('%s', (event) => {
    it('is a message that the provider takes and reads', async () => {
      const delivery = deliveryOf(make(event))
      const verdict = await provider.verify(delivery, NOW_MS)
      const hint = provider.readReturn?.(delivery) ?? null
      if (provider.capabilities.proof !== 'none') expect(verdict.refused).toBe(false)
      if (provider.capabilities.proof === 'none' && hint !== null) {
        expect(hint.lookup.id).not.toBe('')
        return
      }
      const translation = provider.translate(delivery, isVerified(verdict) ? verdict : ACCEPTED)
      expect([translation.outcome, translation.reason]).not.toContain('unreadable')
      expect(['test', null]).toContain(translation.mode)
    })
  })

  it.each(maker.steps.paid)('names the payment that was wished for in %s', async (event) => {
    const delivery = deliveryOf(make(event))
    const verdict = await provider.verify(delivery, NOW_MS)
    const { facts, lookups = [] } = provider.translate(delivery, isVerified(verdict) ? verdict : ACCEPTED)
    const named = facts.flatMap(({ subject, content }) => [
      subject.kind === 'payment' ? subject.id : '',
      'payment' in content ? content.payment : '',
    ])
    const asked = [...lookups, provider.readReturn?.(delivery)?.lookup].map((lookup) => lookup?.id)
    expect([...named, ...asked]).toContain(payment)
  })
}

function deliveryOf({ method, headers, query, body }: SampleMessage): Delivery {
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  return { method, headers: lower, body: Buffer.from(body), query }
}
