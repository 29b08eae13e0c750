import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop } from '../../test/stripe-shop.ts'
import { toy, toyPayment } from '../../test/toy-provider.ts'
import { paymentMilestone } from '../facts/payment.ts'
import { type Refusal, refusal } from '../facts/refusal.ts'
import { PaidOnce } from '../paidonce.ts'
import type { Delivery, Verified } from '../providers/contract.ts'
import { ConfirmWorker, keeperOfUnconfirmed } from './unconfirmed.ts'

const YES: Verified = { refused: false, secret_label: 'asked', signed_at_ms: null, signed_id: null }
const NO = refusal('signature_wrong', 'the provider did not send it')

/** A provider that has to be asked whether it sent a message, and tells of a payment of 20 dollars. */
function asking(confirm: (delivery: Delivery) => Promise<Verified | Refusal>) {
  const { provider, hint } = toy()
  const message = (event: string, payment: string) => ({
    endpoint: 'toy',
    ...hint(event, payment),
    headers: {},
  })
  const told = {
    ...provider,
    verify: () => ({ refused: false, unconfirmed: true }) as const,
    confirm,
    translate: (delivery: Delivery) => {
      const translation = provider.translate(delivery, YES)
      const { payment } = JSON.parse(Buffer.from(delivery.body).toString())
      const content = { milestone: 'succeeded', amount_minor: 2_000n, currency: 'USD', order: 'A-1' } as const
      return { ...translation, lookups: [], facts: [paymentMilestone(toyPayment(payment), content)] }
    },
  }
  return { provider: told, message }
}

function open(database: Parameters<typeof openShop>[0], confirm: Parameters<typeof asking>[0]) {
  const { provider, message } = asking(confirm)
  const shop = openShop(database, { options: { endpoints: { toy: provider } } })
  const refused: string[] = []
  let ahead_ms = 1_000
  const worker = new ConfirmWorker(
    shop.paidonce.settler,
    shop.paidonce.endpoints,
    1,
    () => Promise.reject(new Error('the toy needs no HTTP')),
    () => Date.now() + ahead_ms,
    { refused: (endpoint) => refused.push(endpoint), verified: () => undefined },
  )
  const later = (by_ms: number) => {
    ahead_ms += by_ms
  }
  return { ...shop, worker, message, refused, later }
}

withDatabases('a message that its provider has to confirm', (openDatabase) => {
  const query = async (text: string) => (await openDatabase()).query({ name: '', text })
  const waiting = async () => (await query('select id from unconfirmed')).length
  const rights = () => query('select item, state from entitlements')

  it('is answered at once, believed only when confirmed, and settled once however often it came', async () => {
    const { paidonce, order, worker, message } = open(await openDatabase(), async () => YES)
    await order('A-1')
    for (let copy = 0; copy < 3; copy += 1)
      expect((await paidonce.receive(message('e1', 'p1'))).status).toBe(200)
    expect([await waiting(), await rights(), await query('select id from events')]).toEqual([1, [], []])
    expect(await worker.runOnce()).toBe(1)
    expect(await rights()).toEqual([{ item: 'licence', state: 'granted' }])
    // And days later once more.
    await paidonce.receive(message('e1', 'p1'))
    await worker.runOnce()
    expect(await waiting()).toBe(0)
    expect(await query('select event_key, state from events')).toEqual([
      { event_key: 'e1', state: 'settled' },
    ])
    expect(await query('select status from payments')).toEqual([{ status: 'succeeded' }])
  })

  it('leaves nothing but a count when the provider disowns it', async () => {
    const { paidonce, order, worker, message, refused } = open(await openDatabase(), async () => NO)
    await order('A-1')
    await paidonce.receive(message('e1', 'p1'))
    await worker.runOnce()
    expect(refused).toEqual(['toy'])
    expect([await waiting(), await rights(), await query('select id from events')]).toEqual([0, [], []])
  })

  it('waits while the provider gives no answer, tells a person after a while, and is settled then', async () => {
    let away = true
    const { paidonce, order, worker, message, later } = open(await openDatabase(), async () => {
      if (away) throw new Error('quoted: buyer@example.com')
      return YES
    })
    await order('A-1')
    await paidonce.receive(message('e1', 'p1'))
    for (let round = 0; round < 6; round += 1) {
      await worker.runOnce()
      later(3_600_000)
    }
    const [raised, ...more] = await query("select kind, message from exceptions where state = 'open'")
    expect([raised, more]).toMatchObject([{ kind: 'confirmation_failed' }, []])
    expect(raised?.message).not.toContain('quoted')
    expect([await waiting(), await rights()]).toEqual([1, []])
    away = false
    await worker.runOnce()
    expect([await waiting(), await rights()]).toEqual([0, [{ item: 'licence', state: 'granted' }]])
  })

  it('is asked about although another tenant is flooded', async () => {
    const database = await openDatabase()
    const asked: string[] = []
    const { provider, message } = asking(async ({ body }) => {
      const { event } = JSON.parse(Buffer.from(body).toString())
      asked.push(event)
      const next = { ...message(`flood ${asked.length}`, 'p1'), endpoint: 'busy' }
      if (event !== 'mine' && asked.length < 20) await paidonce.receive(next)
      return NO
    })
    // The two tenants are in different buckets.
    const endpoints = { busy: { provider, tenant: 'a' }, quiet: { provider, tenant: 'c' } }
    const paidonce: PaidOnce = new PaidOnce(
      { mode: 'test', endpoints },
      database,
      { mode: 'test', buckets: 2, epoch: 1n },
      { verified() {}, refused() {}, answered() {}, fault() {} },
    )
    const worker = new ConfirmWorker(
      paidonce.settler,
      paidonce.endpoints,
      2,
      () => Promise.reject(new Error('the toy needs no HTTP')),
      () => Date.now() + 1_000,
      { refused: () => undefined, verified: () => undefined },
      { batch: 1 },
    )
    await paidonce.receive({ ...message('flood', 'p1'), endpoint: 'busy' })
    await paidonce.receive({ ...message('mine', 'p1'), endpoint: 'quiet' })
    await worker.runOnce()
    expect([asked.indexOf('mine'), asked.length]).toEqual([1, 20])
  })

  it('is refused with 503 when too many wait, so that strangers cannot fill the disk', async () => {
    const database = await openDatabase()
    const { paidonce, message } = open(database, async () => YES)
    const keep = keeperOfUnconfirmed(database, 2)
    const endpoint = paidonce.endpoints.get('toy')!
    const kept = []
    for (const event of ['e1', 'e2', 'e3', 'e1'])
      kept.push(await keep(endpoint, message(event, 'p1'), new Date(0)))
    expect(kept).toEqual(['kept', 'kept', expect.objectContaining({ code: 'queue_full' }), 'kept'])
  })
})

withDatabases('a delivery whose key has to be fetched first', (openDatabase) => {
  it('is asked for again with 503 when the key cannot be had, and taken when it can', async () => {
    const { provider, hint } = toy()
    let reachable = false
    const fetching = {
      ...provider,
      verify: async () => {
        if (!reachable) throw new Error('no key')
        return YES
      },
    }
    const { paidonce } = openShop(await openDatabase(), { options: { endpoints: { toy: fetching } } })
    const answer = await paidonce.receive({ endpoint: 'toy', ...hint('e1', 'p1') })
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '30'])
    reachable = true
    expect((await paidonce.receive({ endpoint: 'toy', ...hint('e1', 'p1') })).status).toBe(200)
  })
})

withDatabases('a sender that looks whether the address is there', (openDatabase) => {
  it('hears yes to HEAD where its provider sends that, and nothing is stored', async () => {
    const database = await openDatabase()
    const { provider, hint } = toy({ methods: ['POST', 'HEAD'] })
    const { paidonce } = openShop(database, {
      options: { endpoints: { toy: provider, plain: toy().provider } },
    })
    const head = { ...hint('e1', 'p1'), method: 'HEAD', headers: {}, body: Buffer.alloc(0) }
    expect(await paidonce.receive({ endpoint: 'toy', ...head })).toMatchObject({ status: 200, body: '' })
    expect((await paidonce.receive({ endpoint: 'plain', ...head })).status).toBe(405)
    expect(await database.query({ name: '', text: 'select id from events' })).toEqual([])
  })
})
