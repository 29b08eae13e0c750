import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { openShop } from '../../test/stripe-shop.ts'
import { type Toy, toy, toyPaid, toyPayment } from '../../test/toy-provider.ts'
import { audit } from '../audit/audit.ts'
import { paymentMilestone } from '../facts/payment.ts'
import { PaidOnce } from '../paidonce.ts'
import type { LookupAnswer } from '../providers/lookup.ts'
import type { Database } from '../store/database.ts'
import { LookupWorker } from './lookup-worker.ts'

const noAsk = () => Promise.reject(new Error('the toy needs no HTTP'))

function shopWith(database: Database, { provider }: Toy) {
  const shop = openShop(database, { options: { endpoints: { toy: provider } } })
  const { paidonce } = shop
  let now_ms = Date.now() + 1_000
  const worker = new LookupWorker(paidonce.settler, paidonce.endpoints, 1, noAsk, () => now_ms)
  return {
    ...shop,
    worker,
    receive: (delivery: Parameters<typeof paidonce.receive>[0] | object) =>
      paidonce.receive({ endpoint: 'toy', ...delivery } as Parameters<typeof paidonce.receive>[0]),
    later: (by_ms: number) => {
      now_ms += by_ms
    },
  }
}

const rows = (database: Database, text: string) => database.query({ name: '', text })
const rights = (database: Database) => rows(database, 'select item, state from entitlements')
const questions = (database: Database) =>
  rows(
    database,
    'select object_id, answers, attempts, due_at is null as closed, last_outcome from lookups order by object_id',
  )
const complaints = (database: Database) =>
  rows(database, "select kind, cause from exceptions where state = 'open' and kind = 'lookup_failed'")

withDatabases('a look-up that a message asks for', (open) => {
  it('P51 grants only what the provider confirms, once, with its answer as the witness', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.order('A-1')
    expect((await shop.receive(box.hint('e1', 'p1', 'A-1'))).status).toBe(200)
    expect(await rights(database)).toEqual([])

    box.api.answer = (id) => toyPaid(id, 2_000n, 'A-1')
    expect(await shop.worker.runOnce()).toBe(1)
    expect(await rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
    expect(await questions(database)).toEqual([
      { object_id: 'p1', answers: 1, attempts: 0, closed: true, last_outcome: 'found' },
    ])
    expect(await rows(database, "select source_version from witnesses where source_kind = 'lookup'")).toEqual(
      [{ source_version: 1 }],
    )

    // Delivered again, it is a duplicate and asks nothing.
    await shop.receive(box.hint('e1', 'p1', 'A-1'))
    expect(await shop.worker.runOnce()).toBe(0)
    expect((await audit(database)).differences).toEqual([])
  })

  it('keeps what the provider confirms of another amount from being granted', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.order('A-1')
    await shop.receive(box.hint('e1', 'p1', 'A-1'))
    box.api.answer = (id) => toyPaid(id, 1n, 'A-1')
    await shop.worker.runOnce()
    expect(await rights(database)).toEqual([])
    expect(await rows(database, "select kind from exceptions where state = 'open'")).toEqual([
      { kind: 'underpayment' },
    ])
  })

  it('asks once for several messages about one object, and again for one that came while the answer was on its way', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    for (const event of ['e1', 'e2', 'e3']) await shop.receive(box.hint(event, 'p1', 'A-1'))
    box.api.answer = async (id) => {
      if (box.api.asked.length === 1) await shop.receive(box.hint('e4', 'p1', 'A-1'))
      return toyPaid(id, 2_000n, 'A-1')
    }
    expect(await shop.worker.runOnce()).toBe(1)
    expect(await shop.worker.runOnce()).toBe(1)
    expect(await shop.worker.runOnce()).toBe(0)
    expect(box.api.asked.map(({ id }) => id)).toEqual(['p1', 'p1'])
  })

  it('P39 asks about a payment under way again and again, with growing pauses, and never closes it by time alone', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.order('A-1')
    await shop.receive(box.hint('e1', 'p1', 'A-1'))
    const pending: LookupAnswer = {
      outcome: 'found',
      facts: [paymentMilestone(toyPayment('p1'), { milestone: 'pending', order: 'A-1' })],
    }
    box.api.answer = () => pending
    let asked = 0
    for (let hour = 0; hour < 48; hour += 1) {
      asked += await shop.worker.runOnce()
      shop.later(3_600_000)
    }
    expect(asked).toBeGreaterThan(8)
    expect(asked).toBeLessThan(30)
    expect(await rows(database, 'select status from payments')).toEqual([{ status: 'pending' }])
    box.api.answer = (id) => toyPaid(id, 2_000n, 'A-1')
    shop.later(86_400_000)
    await shop.worker.runOnce()
    expect(await rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
    expect((await questions(database))[0]).toMatchObject({ closed: true })
  })

  it('waits and asks again when the provider is away, tells a person after a while, and takes that back', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.order('A-1')
    await shop.receive(box.hint('e1', 'p1', 'A-1'))
    box.api.answer = () => Promise.reject(new Error('connection reset'))
    for (let round = 0; round < 5; round += 1) {
      await shop.worker.runOnce()
      shop.later(3_600_000)
    }
    expect(await complaints(database)).toEqual([])
    await shop.worker.runOnce()
    expect(await complaints(database)).toEqual([{ kind: 'lookup_failed', cause: 'payment/p1' }])
    box.api.answer = (id) => toyPaid(id, 2_000n, 'A-1')
    shop.later(3_600_000)
    await shop.worker.runOnce()
    expect(await complaints(database)).toEqual([])
    expect(await rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
  })

  it('waits at least as long as the provider asks for', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.receive(box.hint('e1', 'p1'))
    box.api.answer = () => ({ outcome: 'unavailable', reason: 'slow down', retry_after_ms: 120_000 })
    await shop.worker.runOnce()
    shop.later(119_000)
    expect(await shop.worker.runOnce()).toBe(0)
    shop.later(2_000)
    expect(await shop.worker.runOnce()).toBe(1)
  })

  it('asks again within the hour, whatever patience the provider asks for', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.receive(box.hint('e1', 'p1'))
    box.api.answer = () => ({
      outcome: 'unavailable',
      reason: 'later',
      retry_after_ms: 8_640_000_000_000_000,
    })
    await shop.worker.runOnce()
    shop.later(3_600_000)
    expect(await shop.worker.runOnce()).toBe(1)
  })

  it('keeps what an error quotes out of what it stores', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.receive(box.hint('e1', 'p1'))
    box.api.answer = () => Promise.reject(new SyntaxError('Unexpected token in "buyer@example.com"'))
    for (let round = 0; round < 6; round += 1) {
      await shop.worker.runOnce()
      shop.later(3_600_000)
    }
    const stored = [
      ...(await rows(database, 'select last_reason from lookups')),
      ...(await rows(database, 'select message from exceptions')),
    ]
    expect(JSON.stringify(stored)).toContain('SyntaxError')
    expect(JSON.stringify(stored)).not.toContain('buyer@')
  })

  it('gives up on an answer that never comes, and asks the others meanwhile and afterwards', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    const { settler, endpoints } = shop.paidonce
    const worker = new LookupWorker(settler, endpoints, 1, noAsk, () => Date.now() + 1_000, { lease_ms: 20 })
    await shop.order('A-1')
    await shop.receive(box.hint('e1', 'p1'))
    box.api.answer = () => new Promise<LookupAnswer>(() => {})
    expect(await worker.runOnce()).toBe(1)
    expect((await questions(database))[0]).toMatchObject({ closed: false, last_outcome: 'unavailable' })
    await shop.receive(box.hint('e2', 'p2', 'A-1'))
    box.api.answer = (id) => toyPaid(id, 2_000n, 'A-1')
    await worker.runOnce()
    expect(await rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
  })

  it('lets no tenant with endless questions keep the others waiting', async () => {
    const database = await open()
    const box = toy()
    // The two tenants are in different buckets.
    const endpoints = {
      busy: { provider: box.provider, tenant: 'a' },
      quiet: { provider: box.provider, tenant: 'c' },
    }
    const paidonce = new PaidOnce(
      { mode: 'test', endpoints },
      database,
      { mode: 'test', buckets: 2, epoch: 1n },
      { verified() {}, refused() {}, answered() {}, fault() {} },
    )
    const now_ms = () => Date.now() + 1_000
    const worker = new LookupWorker(paidonce.settler, paidonce.endpoints, 2, noAsk, now_ms, { batch: 1 })
    await paidonce.receive({ endpoint: 'busy', ...box.hint('e1', 'x0') })
    await paidonce.receive({ endpoint: 'quiet', ...box.hint('e1', 'p1') })
    box.api.answer = (id) => {
      const next = id.startsWith('x') && box.api.asked.length < 20 ? `x${box.api.asked.length}` : null
      const lookups = next === null ? [] : [{ object: 'payment', id: next }]
      return { outcome: 'found', facts: [], lookups }
    }
    await worker.runOnce()
    expect(box.api.asked.findIndex(({ id }) => id === 'p1')).toBe(1)
    expect(box.api.asked.length).toBeGreaterThan(10)
  })

  it.each([
    [{ outcome: 'refused', reason: 'key revoked' } as const, 'credentials'],
    [{ outcome: 'unreadable', reason: 'status' } as const, 'payment/p1'],
  ])(
    'tells a person at once of $outcome, and goes on by itself when that is mended',
    async (answer, cause) => {
      const database = await open()
      const box = toy()
      const shop = shopWith(database, box)
      await shop.receive(box.hint('e1', 'p1'))
      box.api.answer = () => answer
      await shop.worker.runOnce()
      expect(await complaints(database)).toEqual([{ kind: 'lookup_failed', cause }])
      box.api.answer = (id) => toyPaid(id, 2_000n)
      shop.later(900_000)
      expect(await shop.worker.runOnce()).toBe(1)
      expect(await complaints(database)).toEqual([])
    },
  )

  it('raises what the provider does not know although a message named it, after the lag of its reads', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.receive(box.hint('e1', 'p1'))
    for (let round = 0; round < 4; round += 1) {
      expect(await complaints(database)).toEqual([])
      expect(await shop.worker.runOnce()).toBe(1)
      shop.later(600_000)
    }
    expect(await complaints(database)).toEqual([{ kind: 'lookup_failed', cause: 'payment/p1' }])
    expect(await shop.worker.runOnce()).toBe(0)
  })

  it('lets the answer of a worker whose lease ran out change nothing when another has answered', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.order('A-1')
    await shop.receive(box.hint('e1', 'p1', 'A-1'))
    const second = new LookupWorker(
      shop.paidonce.settler,
      shop.paidonce.endpoints,
      1,
      noAsk,
      () => Date.now() + 120_000,
    )
    box.api.answer = async (id) => {
      if (box.api.asked.length === 1) await second.runOnce()
      return toyPaid(id, box.api.asked.length === 1 ? 1n : 2_000n, 'A-1')
    }
    await shop.worker.runOnce()
    // The first request was answered last; what it said is not the truth of the second.
    expect(box.api.asked.length).toBe(2)
    expect(await rows(database, 'select number from lookup_answers')).toEqual([{ number: 1 }])
    expect(await rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
    expect((await audit(database)).differences).toEqual([])
  })

  it('asks for somebody who waits, and settles the answer even when it comes too late for them', async () => {
    const database = await open()
    const box = toy()
    const shop = shopWith(database, box)
    await shop.order('A-1')
    const endpoint = shop.paidonce.endpoints.get('toy')!
    box.api.answer = () => ({ outcome: 'not_found' })
    expect(await shop.worker.askNow(endpoint, { object: 'payment', id: 'p1' }, 'person', 5_000)).toBe(
      'not_found',
    )
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    box.api.answer = async (id) => {
      await gate
      return toyPaid(id, 2_000n, 'A-1')
    }
    expect(await shop.worker.askNow(endpoint, { object: 'payment', id: 'p1' }, 'person', 20)).toBeNull()
    release()
    await expect.poll(() => rights(database)).toEqual([{ item: 'licence', state: 'granted' }])
  })
})
