import { describe, expect, it } from 'vitest'
import { changed, sample, told, translate } from './told.ts'

const PI = 'pi_3QxA1001'
const CH = 'ch_3QxA1001'
const MONEY = { amount_minor: 5243n, currency: 'EUR' }

describe('refunds', () => {
  it('case-21 tells each refund by its own id and amount', () => {
    expect(told(sample('refund.created'))).toEqual([
      [
        PI,
        'refund/re_3QxA1001/succeeded',
        {
          refund: 're_3QxA1001',
          milestone: 'succeeded',
          amount_minor: 1000n,
          currency: 'EUR',
          attempt: CH,
          moved_at: '2025-10-10T09:53:20.000Z',
          order: 'A-1001',
          reason: 'requested_by_customer',
        },
      ],
    ])
  })

  it('case-22 tells a failure as a milestone of its own', () => {
    expect(told(sample('refund.failed'))[0]).toEqual([
      PI,
      'refund/re_3QxA1001/failed',
      expect.objectContaining({ milestone: 'failed', reason: 'expired_or_canceled_card' }),
    ])
  })

  it('seq-08 goes by the status, whatever the type of the event', () => {
    for (const type of ['refund.created', 'refund.updated', 'charge.refund.updated']) {
      for (const status of ['pending', 'requires_action', 'succeeded', 'failed', 'canceled']) {
        expect(told(changed('refund.created', { status }, { type }))[0]?.[1]).toBe(
          `refund/re_3QxA1001/${status}`,
        )
      }
    }
    expect(translate(changed('refund.created', { status: 'teleported' })).outcome).toBe('unreadable')
    expect(translate(changed('refund.created', { status: null })).outcome).toBe('unreadable')
  })

  it('takes the running total of a charge only as a hint', () => {
    expect(told(sample('charge.refunded'))).toEqual([
      [PI, `refund_total/${CH}/1500`, { attempt: CH, total_minor: 1500n, currency: 'EUR' }],
    ])
    const partial = changed('charge.refunded', { amount_captured: 3743 })
    expect(translate(partial)).toMatchObject({ outcome: 'ignored' })
    expect(translate(changed('charge.refunded', { captured: false, amount_captured: 0 })).outcome).toBe(
      'ignored',
    )
  })

  it('reads the refunds that versions before 2022-11-15 carry inside the charge', () => {
    const [refund] = [JSON.parse(sample('refund.created').toString('utf8')).data.object]
    const old = changed('charge.refunded', { refunds: { object: 'list', data: [refund, { id: 're_0' }] } })
    expect(told(old)).toEqual([...told(sample('refund.created')), ...told(sample('charge.refunded'))])
  })

  it('marks a lapsed authorisation that is shown as a refund', () => {
    const [fact] = told(changed('refund.created', { reason: 'expired_uncaptured_charge' }))
    expect(fact?.[2]).toMatchObject({ releases_authorization: true, origin: 'provider_automatic' })
  })

  it('ignores a refund of customer balance, which belongs to no payment', () => {
    expect(translate(changed('refund.created', { payment_intent: null, charge: null })).outcome).toBe(
      'ignored',
    )
    expect(told(changed('refund.created', { payment_intent: null }))[0]?.[0]).toBe(CH)
  })
})

describe('disputes', () => {
  it('case-38 tells the verdict and the money apart', () => {
    const at = '2025-10-11T08:53:21.000Z'
    expect(told(sample('charge.dispute.created'))).toEqual([
      [
        PI,
        `dispute/du_1QxA1001/chargeback/needs_response/${at}`,
        {
          dispute: 'du_1QxA1001',
          stage: 'chargeback',
          status: 'needs_response',
          at,
          ...MONEY,
          attempt: CH,
          respond_by: '2025-10-18T08:53:20.000Z',
          reason: 'product_not_received',
        },
      ],
      [
        PI,
        'dispute_funds/du_1QxA1001/withdrawn/txn_1QxA1001d',
        {
          dispute: 'du_1QxA1001',
          direction: 'withdrawn',
          ...MONEY,
          transaction: 'txn_1QxA1001d',
          moved_at: '2025-10-11T08:53:20.000Z',
        },
      ],
    ])
    expect(told(sample('charge.dispute.funds_reinstated')).map(([, key]) => key)).toEqual([
      'dispute/du_1QxA1001/chargeback/won/2025-10-22T22:40:01.000Z',
      'dispute_funds/du_1QxA1001/withdrawn/txn_1QxA1001d',
      'dispute_funds/du_1QxA1001/reinstated/txn_1QxA1001e',
    ])
  })

  it('case-37 takes an inquiry for an inquiry', () => {
    const [fact, ...funds] = told(sample('charge.dispute.created.inquiry'))
    expect(fact?.[2]).toMatchObject({ stage: 'inquiry', status: 'needs_response' })
    expect(funds).toEqual([])
    const closed = changed(
      'charge.dispute.created.inquiry',
      { status: 'warning_closed' },
      { type: 'charge.dispute.closed' },
    )
    expect(told(closed)[0]?.[2]).toMatchObject({ stage: 'inquiry', status: 'withdrawn' })
  })

  it('seq-06 goes by the status of the object: money that came back does not mean won', () => {
    const [fact] = told(changed('charge.dispute.funds_reinstated', { status: 'lost' }))
    expect(fact?.[2]).toMatchObject({ status: 'lost' })
  })

  it.each([
    ['warning_under_review', 'inquiry', 'under_review'],
    ['under_review', 'chargeback', 'under_review'],
    ['appeal_needs_response', 'chargeback', 'needs_response'],
    ['appeal_under_review', 'chargeback', 'under_review'],
    ['won', 'chargeback', 'won'],
    ['lost', 'chargeback', 'lost'],
    ['prevented', 'chargeback', 'prevented'],
  ])('reads the status %s as %s %s', (status, stage, meant) => {
    const [fact] = told(changed('charge.dispute.created', { status }, { type: 'charge.dispute.updated' }))
    expect(fact?.[2]).toMatchObject({ stage, status: meant })
  })

  it('keeps a status that it does not know as unreadable', () => {
    expect(translate(changed('charge.dispute.created', { status: 'duel' })).outcome).toBe('unreadable')
  })

  it('case-44 leaves out a deadline that is not given', () => {
    for (const evidence_details of [null, { due_by: null }, { due_by: 0 }]) {
      expect(told(changed('charge.dispute.created', { evidence_details }))[0]?.[2]).not.toHaveProperty(
        'respond_by',
      )
    }
  })

  it('tells a fraud warning of the bank as an early warning', () => {
    expect(told(sample('radar.early_fraud_warning.created'))[0]).toEqual([
      PI,
      expect.stringMatching(/^dispute\/issfr_1QxA1001\/early_warning\/needs_response\//),
      expect.objectContaining({ reason: 'unauthorized_use_of_card', attempt: CH }),
    ])
    expect(told(changed('radar.early_fraud_warning.created', { actionable: false }))[0]?.[2]).toMatchObject({
      status: 'withdrawn',
    })
  })

  it('P53 keeps a return to a former status, and two statements of one second, as facts of their own', () => {
    const keys = [1, 2].map(
      (n) => translate(changed('charge.dispute.closed', {}, { id: `evt_${n}` })).facts[0]?.key,
    )
    expect(new Set(keys).size).toBe(2)
  })
})
