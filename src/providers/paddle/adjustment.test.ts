import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { samples } from './index.ts'
import { sampleBody } from './sample.ts'
import { changed, sample, told, translate } from './told.ts'

const TXN = told(sample('transaction.completed'))[0]![0]
const ADJ = JSON.parse(sample('adjustment.created').toString('utf8')).data.id
const CHARGEBACK = JSON.parse(sample('adjustment.created.chargeback').toString('utf8')).data.id

describe('refunds', () => {
  it('P08 case-21 tells each refund by its own id and amount; a request gives nothing back yet', () => {
    expect(told(sample('adjustment.created'))).toEqual([
      [
        TXN,
        `refund/${ADJ}/pending`,
        { refund: ADJ, milestone: 'pending', amount_minor: 1000n, currency: 'EUR' },
      ],
    ])
    expect(told(sample('adjustment.updated'))[0]?.[1]).toBe(`refund/${ADJ}/succeeded`)
  })

  it.each([
    ['pending_approval', 'pending'],
    ['approved', 'succeeded'],
    ['rejected', 'failed'],
    ['reversed', 'reversed'],
  ])('P23 goes by the status %s, whatever the type of the event', (status, milestone) => {
    for (const event_type of ['adjustment.created', 'adjustment.updated']) {
      expect(told(changed('adjustment.created', { status }, { event_type }))[0]?.[1]).toBe(
        `refund/${ADJ}/${milestone}`,
      )
    }
  })

  it('tells its amount as the payment is told: with tax, or without', () => {
    const body = changed('adjustment.updated', {
      totals: { subtotal: '924', tax: '76', total: '1000', currency_code: 'EUR' },
    })
    expect(told(body)[0]?.[2]).toMatchObject({ amount_minor: 1000n })
    expect(told(body, { amounts: 'net' })[0]?.[2]).toMatchObject({ amount_minor: 924n })
  })

  it('P55 leaves out the reason, which people write', () => {
    const body = changed('adjustment.updated', { reason: 'Mira Lind called' })
    expect(JSON.stringify(translate(body).facts.map(({ content }) => Object.keys(content)))).not.toContain(
      'reason',
    )
  })

  it('P30 keeps an unknown action or status, or a missing payment, as unreadable', () => {
    const odd = [
      { action: 'clawback' },
      { action: null },
      { status: 'mislaid' },
      { transaction_id: null },
      { totals: null },
      { action: 'chargeback', status: 'mislaid' },
      { action: 'chargeback_reverse', status: 'mislaid' },
    ]
    for (const data of odd) {
      expect(translate(changed('adjustment.updated', data))).toMatchObject({
        outcome: 'unreadable',
        facts: [],
      })
    }
  })

  it('ignores credits, which move no money of the buyer', () => {
    for (const action of ['credit', 'credit_reverse']) {
      expect(translate(changed('adjustment.created.credit', { action })).outcome).toBe('ignored')
    }
  })

  it('P19 tells the same of one refund, however often its events come', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 12n })
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 999_999 }), (amount_minor, later) => {
        const wish = { payment: TXN, amount_minor, currency: 'EUR', live: true, event: 'adjustment.updated' }
        const [once, again] = [0, later].map((s) => told(sampleBody({ ...wish, at_s: 1_760_000_000 + s })))
        expect(again).toEqual(once)
      }),
    )
  })
})

describe('chargebacks', () => {
  const at = '2025-10-12T09:06:40.000Z'

  it('P23 case-38 tells the dispute and the money that left apart', () => {
    expect(told(sample('adjustment.created.chargeback'))).toEqual([
      [
        TXN,
        `dispute/${CHARGEBACK}/chargeback/under_review/${at}`,
        {
          dispute: CHARGEBACK,
          stage: 'chargeback',
          status: 'under_review',
          at,
          amount_minor: 2165n,
          currency: 'EUR',
        },
      ],
      [
        TXN,
        `dispute_funds/${CHARGEBACK}/withdrawn/${CHARGEBACK}`,
        {
          dispute: CHARGEBACK,
          direction: 'withdrawn',
          amount_minor: 2165n,
          currency: 'EUR',
          transaction: CHARGEBACK,
          moved_at: '2025-10-09T08:53:20.000Z',
        },
      ],
    ])
  })

  it('P23 takes a chargeback that became `reversed` for won, and one that was rejected for withdrawn', () => {
    expect(told(sample('adjustment.updated.chargeback_reversed'))[0]?.[2]).toMatchObject({
      dispute: CHARGEBACK,
      status: 'won',
    })
    const status = (status: string) => told(changed('adjustment.created.chargeback', { status }))
    expect(status('rejected').map(([, , content]) => content)).toEqual([
      expect.objectContaining({ status: 'withdrawn' }),
    ])
    expect(status('pending_approval')).toHaveLength(1)
  })

  it('P51 tells a reversal under its own id, and asks which chargeback it gives back', () => {
    const reading = translate(sample('adjustment.created.chargeback_reverse'))
    expect(reading.lookups).toEqual([{ object: 'transaction', id: TXN }])
    const [dispute, funds] = told(sample('adjustment.created.chargeback_reverse'))
    expect(dispute?.[2]).toMatchObject({ stage: 'chargeback', status: 'won' })
    expect(funds?.[2]).toMatchObject({ direction: 'reinstated', amount_minor: 2165n })
    expect(dispute?.[1]).not.toContain(CHARGEBACK)
    const early = changed('adjustment.created.chargeback_reverse', { status: 'pending_approval' })
    expect(translate(early).outcome).toBe('ignored')
  })

  it('case-37 takes a warning for a warning: no money has moved', () => {
    const body = (event: string) =>
      sampleBody({
        event,
        payment: TXN,
        amount_minor: 5n,
        currency: samples.currency,
        live: true,
        at_s: 1_760_000_000,
      })
    const warning = told(body('adjustment.created.chargeback_warning'))
    expect(warning.map(([, , content]) => content)).toEqual([
      expect.objectContaining({ stage: 'early_warning', status: 'under_review' }),
    ])
    const lifted = told(body('adjustment.created.chargeback_warning_reverse'))
    expect(lifted.map(([, , content]) => content)).toEqual([
      expect.objectContaining({ stage: 'early_warning', status: 'withdrawn' }),
    ])
    const reversed = changed('adjustment.created.chargeback', {
      action: 'chargeback_warning',
      status: 'reversed',
    })
    expect(told(reversed)[0]?.[2]).toMatchObject({ status: 'withdrawn' })
  })

  it('P53 keeps each statement of a dispute under its own time', () => {
    const times = ['2025-10-12T09:06:40.5Z', '2025-10-13T09:06:40Z']
    const keys = times.map(
      (updated_at) => told(changed('adjustment.created.chargeback', { updated_at }))[0]?.[1],
    )
    expect(new Set(keys).size).toBe(2)
    const untimed = told(changed('adjustment.created.chargeback', { updated_at: null }))[0]?.[2]
    expect(untimed).toMatchObject({ at })
  })
})
