import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { derivePayment } from '../../rules/derive-payment.ts'
import { startFakePaypal } from '../paypal/fake.ts'
import type { PaypalIpnOptions } from './index.ts'
import { pacific, SAMPLE_RECEIVER, samples } from './sample.ts'
import { contentOf, context, endpoint, message, NOW_MS, read, VECTOR } from './told.ts'

describe('configuration', () => {
  it.each<[Partial<PaypalIpnOptions>, string]>([
    [{ receiverId: undefined }, 'config_invalid'],
    [{ receiverId: 'x' }, 'config_invalid'],
    [{ receiverId: undefined, receiverEmails: ['no address'] }, 'config_invalid'],
    [{ environment: 'test' as never }, 'config_invalid'],
    [{ environment: 'live', baseUrl: 'http://127.0.0.1:1' }, 'config_invalid'],
    [{ clientId: 'AYSq3RDGsmBLJE' }, 'config_invalid'],
    [{ clientId: 'AYSq3RDGsmBLJE', clientSecret: 'changeme' }, 'secret_missing'],
  ])('P06 refuses %j', (wrong, code) => {
    expect(() => endpoint(wrong)).toThrow(expect.objectContaining({ code }))
  })

  it('offers look-ups with credentials only, and says so', () => {
    expect(endpoint()).toMatchObject({ lookup: undefined, capabilities: { lists_by_window: false } })
    const asking = endpoint({ clientId: 'AYSq3RDGsmBLJE', clientSecret: 'EGnHDxD_qRPdaL' })
    expect(asking.capabilities).toMatchObject({ lookup_by_payment: true, lists_by_window: true })
    expect(asking.lookup?.refund).toBeDefined()
  })
})

describe('a message before PayPal is asked', () => {
  it('P51 is not believed, and what is no IPN is refused', () => {
    const verify = (body: string | Uint8Array, type?: string) =>
      endpoint().verify(
        { method: 'POST', headers: type ? { 'content-type': type } : {}, body: Buffer.from(body) },
        NOW_MS,
      )
    expect(verify(VECTOR)).toEqual({ refused: false, unconfirmed: true })
    expect(verify(VECTOR, 'application/x-www-form-urlencoded; charset=windows-1252')).toMatchObject({
      refused: false,
    })
    for (const body of ['', '{}', 'a=b', 'txn_id=%zz', 'txn_id', Buffer.from([0xff, 0x3d])])
      expect(verify(body)).toMatchObject({ refused: true, status: 401 })
    expect(verify(VECTOR, 'application/json')).toMatchObject({ refused: true })
  })

  it('is not stored for strangers when it is larger than any IPN', () => {
    const body = Buffer.from(`txn_id=1&memo=${'x'.repeat(128 * 1024)}`)
    expect(endpoint().verify({ method: 'POST', headers: {}, body }, NOW_MS)).toMatchObject({
      refused: true,
      code: 'signature_malformed',
    })
  })

  it('P04 answers whatever body comes, never with a throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.string().map(Buffer.from)), (body) => {
        const { refused } = endpoint().verify({ method: 'POST', headers: {}, body }, NOW_MS) as {
          refused: boolean
        }
        expect(typeof refused).toBe('boolean')
        expect(read(body).outcome).not.toBe('facts')
      }),
    )
  })
})

describe('translation', () => {
  it('reads the vector', () => {
    expect(read(VECTOR, { receiverId: 'TESTSELLER001' })).toMatchObject({
      event_id: null,
      type: 'web_accept/Completed',
      mode: 'test',
      occurred_at: '2026-03-03T12:12:33.000Z',
      outcome: 'facts',
    })
    expect(contentOf(VECTOR, { receiverId: 'TESTSELLER001' })).toEqual({
      milestone: 'succeeded',
      attempt: '7AB12345CD678901E',
      amount_minor: 2500n,
      currency: 'EUR',
      moved_at: '2026-03-03T12:12:33.000Z',
      order: 'ORD-1001',
      method: 'echeck',
      subscription: undefined,
      reason: undefined,
    })
  })

  it('P09 three identical messages are one event and one payment', () => {
    const readings = [1, 2, 3].map(() => read(message('web_accept/Completed')))
    // No id of its own: the digest of the bytes is the key, and equal bytes have one.
    expect(readings.map(({ event_id }) => event_id)).toEqual([null, null, null])
    expect(endpoint().capabilities.event_id).toBe('none')
    const payment = derivePayment(readings.flatMap(({ facts }) => facts))
    expect(payment).toMatchObject({ status: 'succeeded', captured_minor: 2500n, exceptions: [] })
  })

  it('P39 one transaction goes from pending to completed, in either order', () => {
    const [pending, completed] = ['web_accept/Pending', 'web_accept/Completed'].map(
      (event) => read(message(event)).facts,
    )
    expect(derivePayment(pending!)).toMatchObject({ status: 'pending', captured_minor: 0n })
    for (const facts of [
      [...pending!, ...completed!],
      [...completed!, ...pending!],
    ])
      expect(derivePayment(facts)).toMatchObject({ status: 'succeeded', captured_minor: 2500n })
  })

  it('P22 P23 refund and chargeback are their own amounts, and name the payment by its parent', () => {
    const paid = read(message('web_accept/Completed')).facts
    const refund = read(message('Refunded', { mc_gross: '-10.00' })).facts
    const reversed = read(message('Reversed', { mc_gross: '-15.00' })).facts
    expect(derivePayment([...refund, ...paid])).toMatchObject({
      refunded_minor: 1000n,
      captured_minor: 2500n,
    })
    const open = [...paid, ...refund, ...reversed]
    expect(derivePayment(open)).toMatchObject({ refunded_minor: 1000n, disputed_minor: 1500n })
    const won = read(message('Canceled_Reversal', { payment_date: pacific(1_760_100_000) })).facts
    expect(derivePayment([...open, ...won])).toMatchObject({ disputed_minor: 0n, lost_minor: 0n })
    const lost = read(
      message('adjustment/Completed', { mc_gross: '-15.00', payment_date: pacific(1_760_100_000) }),
    ).facts
    expect(derivePayment([...open, ...lost])).toMatchObject({ disputed_minor: 0n, lost_minor: 1500n })
  })

  it('ties a reversal without a case to its cancellation by the payment', () => {
    const paid = read(message('web_accept/Completed')).facts
    const reversed = read(message('Reversed', { case_id: null })).facts
    const returned = read(
      message('Canceled_Reversal', { case_id: null, payment_date: pacific(1_760_100_000) }),
    ).facts
    expect(derivePayment([...paid, ...reversed])).toMatchObject({ disputed_minor: 2500n })
    expect(derivePayment([...returned, ...reversed, ...paid])).toMatchObject({
      disputed_minor: 0n,
      lost_minor: 0n,
    })
  })

  it.each(['', ' ', '25,00', '1e3', '25.001', 'NaN', null])(
    'P18 is an error for mc_gross %j, never a sale of 0',
    (mc_gross) => {
      expect(read(message('web_accept/Completed', { mc_gross }))).toMatchObject({
        outcome: 'unreadable',
        facts: [],
      })
    },
  )

  it.each([
    ['web_accept/Completed', { mc_gross: '-25.00' }],
    ['web_accept/Completed', { mc_currency: '' }],
    ['web_accept/Completed', { txn_id: '' }],
    ['web_accept/Completed', { txn_id: '../x' }],
    ['web_accept/Completed', { payment_status: '' }],
    ['web_accept/Completed', { payment_status: 'completed' }],
    ['Refunded', { mc_gross: '10.00' }],
    ['Refunded', { parent_txn_id: null }],
    ['Reversed', { mc_gross: '15.00' }],
    ['Reversed', { payment_date: 'N/A' }],
    ['new_case', { case_id: null }],
    ['web_accept/Completed', { charset: 'klingon' }],
    [
      'web_accept/Completed',
      { charset: 'UTF-8', item_name: null, receiver_id: null, receiver_email: null, business: null },
    ],
  ] as const)('P30 keeps %s with %j as unreadable', (event, fields) => {
    expect(read(message(event, fields))).toMatchObject({ outcome: 'unreadable', facts: [] })
  })

  it('P30 refuses to choose between two values of one field', () => {
    expect(read(`${message('web_accept/Completed')}&mc_gross=99.00`)).toMatchObject({
      outcome: 'unreadable',
      reason: 'mc_gross stands twice',
    })
  })

  it('decodes in the charset that the message names, windows-1252 by default', () => {
    const inCharset = (charset: string | null, encoded: string) =>
      contentOf(
        `${message('web_accept/Completed', { invoice: null, custom: null, charset })}&invoice=ORD-${encoded}`,
      )
    expect(inCharset(null, '%E9')).toMatchObject({ order: 'ORD-é' })
    expect(inCharset('windows-1252', '%80')).toMatchObject({ order: 'ORD-€' })
    expect(inCharset('UTF-8', '%C3%A9')).toMatchObject({ order: 'ORD-é' })
    expect(inCharset('Shift_JIS', '%82%A0')).toMatchObject({ order: 'ORD-あ' })
    expect(inCharset('UTF-8', '%E9')).toBe('invoice is not of the charset that the message names')
    // What nobody asks for may be as it likes.
    expect(contentOf(`${message('web_accept/Completed')}&first_name=%81`)).toMatchObject({ order: 'ORD-1' })
  })

  it('reads times of the Pacific coast, and none of another shape', () => {
    const at = (payment_date: string) => read(message('web_accept/Completed', { payment_date })).occurred_at
    expect(at('06:40:02 Mar 12, 2026 PDT')).toBe('2026-03-12T13:40:02.000Z')
    expect(at('23:30:00 Dec 31, 2025 PST')).toBe('2026-01-01T07:30:00.000Z')
    for (const odd of [
      'N/A',
      '2026-03-12T13:40:02Z',
      '06:40:02 Mar 12, 2026',
      '06:40:02 Foo 12, 2026 PST',
      '06:40:02 Feb 31, 2026 PST',
      '',
    ])
      expect(at(odd)).toBeNull()
    const whenever = contentOf(message('web_accept/Completed', { payment_date: 'N/A' }))
    expect(whenever).toMatchObject({ milestone: 'succeeded', moved_at: undefined })
  })

  it('gives back any time that it writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (at_s) => {
        const { occurred_at } = read(message('web_accept/Completed', { payment_date: pacific(at_s) }))
        expect(occurred_at).toBe(new Date(at_s * 1000).toISOString())
      }),
    )
  })

  it('P28 test_ipn marks a message of the sandbox', () => {
    expect(read(message('web_accept/Completed')).mode).toBe('test')
    expect(read(message('web_accept/Completed', { test_ipn: null })).mode).toBe('live')
  })

  it('P47 stores what is not expected and states nothing', () => {
    expect(read(message('Refunded'), { expects: ['web_accept/Completed'] })).toMatchObject({
      outcome: 'ignored',
      facts: [],
    })
    expect(read(message('web_accept/Completed'), { expects: ['web_accept/Completed'] }).outcome).toBe('facts')
  })
})

describe('the receiver', () => {
  const mine = { receiverId: undefined, receiverEmails: ['Seller@Shop.example'] }

  it('P29 a genuine message about another account is kept and states nothing', () => {
    for (const event of samples.events.filter((name) => name !== 'masspay')) {
      expect(read(message(event), { receiverId: 'OTHERMERCHANT' })).toMatchObject({
        outcome: 'not_ours',
        account: SAMPLE_RECEIVER,
        facts: [],
      })
    }
  })

  it('is compared by id where there is one, else by address without regard to case', () => {
    const of = (fields: Record<string, string | null>, options: Partial<PaypalIpnOptions>) =>
      read(message('web_accept/Completed', fields), options).outcome
    expect(of({}, mine)).toBe('facts')
    expect(of({ receiver_email: 'SELLER@shop.example' }, mine)).toBe('facts')
    expect(of({ receiver_email: 'thief@shop.example' }, mine)).toBe('not_ours')
    // The id decides, even where the address is ours.
    expect(of({ receiver_id: 'OTHERMERCHANT' }, { ...mine, receiverId: SAMPLE_RECEIVER })).toBe('not_ours')
    expect(of({ receiver_id: null, receiver_email: null, business: 'seller@shop.example' }, mine)).toBe(
      'facts',
    )
    expect(of({ receiver_id: null, receiver_email: null, business: SAMPLE_RECEIVER }, {})).toBe('facts')
  })

  it('P55 tells no address of another receiver', () => {
    const { account, reason } = read(
      message('web_accept/Completed', { receiver_id: null, receiver_email: 'mira@example.org' }),
      mine,
    )
    expect([account, reason].join()).not.toContain('mira')
  })
})

describe('subscriptions', () => {
  it('P33 a sign-up is no payment and links nothing; the first charge makes it active', () => {
    const { facts } = read(message('subscr_signup'))
    expect(
      facts.map(({ subject, content }) => [subject.kind, 'status' in content && content.status]),
    ).toEqual([['subscription', 'incomplete']])
    expect(read(message('subscr_payment')).facts).toMatchObject([
      { subject: { kind: 'payment' }, content: { milestone: 'succeeded', order: undefined } },
      { subject: { kind: 'subscription' }, content: { status: 'active' } },
    ])
    expect(contentOf(message('subscr_signup', { period1: '7 D', mc_amount1: '0.00' }))).toMatchObject({
      status: 'trialing',
    })
  })

  it('a cancellation takes nothing away before the paid time is over', () => {
    expect(read(message('subscr_cancel'))).toMatchObject({ outcome: 'ignored', facts: [] })
    expect(contentOf(message('subscr_eot'))).toMatchObject({ status: 'expired' })
  })

  it('a charge of a profile tells until when is paid', () => {
    expect(read(message('recurring_payment')).facts[1]?.content).toMatchObject({
      status: 'active',
      period_end: new Date((1_760_000_000 + 30 * 86_400) * 1000).toISOString(),
    })
  })

  it('P51 asks PayPal about a state that names no time, where it can', () => {
    const asking = { clientId: 'AYSq3RDGsmBLJE', clientSecret: 'EGnHDxD_qRPdaL' }
    const body = message('recurring_payment_failed')
    expect(read(body)).toMatchObject({ outcome: 'ignored' })
    const { lookups, outcome } = read(body, asking)
    expect([outcome, lookups]).toEqual([
      'facts',
      [{ object: 'subscription', id: expect.stringMatching(/^I-/) }],
    ])
    expect(read(message('web_accept/Processed'), asking).lookups).toEqual([{ object: 'payment', id: 'TXN1' }])
  })
})

describe('beside REST webhooks', () => {
  it('P52 one payment told by both, with times that differ by seconds, is one payment', async () => {
    let now_ms = NOW_MS
    const fake = await startFakePaypal(() => now_ms)
    const capture = fake.pay({ seed: 'both', amount_minor: 2500n, currency: 'EUR', order: 'ORD-1' })
    now_ms += 3000
    const refund = fake.refund(capture, 1000n)
    const asking = endpoint({ baseUrl: fake.url, clientId: 'AYSq3RDGsmBLJE', clientSecret: 'EGnHDxD_qRPdaL' })
    const answers = await Promise.all(
      [
        { object: 'capture', id: capture },
        { object: 'refund', id: refund },
      ].map((request) => asking.lookup!.fetch(request, null, { ...context, now_ms })),
    )
    const rest = answers.flatMap((answer) => (answer.outcome === 'found' ? answer.facts : []))
    const at = { payment_date: pacific(NOW_MS / 1000 + 3) }
    const ipn = [
      ...read(message('web_accept/Completed', { ...at, txn_id: capture })).facts,
      ...read(message('Refunded', { ...at, txn_id: refund, parent_txn_id: capture, mc_gross: '-10.00' }))
        .facts,
    ]
    for (const facts of [
      [...rest, ...ipn],
      [...ipn, ...rest],
    ]) {
      expect(derivePayment(facts)).toMatchObject({
        status: 'succeeded',
        captured_minor: 2500n,
        refunded_minor: 1000n,
        order: 'ORD-1',
        exceptions: [],
      })
    }
    await fake.close()
  })
})
