import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import type { PaidOnceOptions } from '../options.ts'
import { PaidOnce } from '../paidonce.ts'
import { signStripe, stripe, stripeEvents } from '../providers/stripe/index.ts'
import type { Database } from '../store/database.ts'

const SECRET = 'whsec_d2F0Y2hlZC1jYXJlZnVsbHk'
const body = Buffer.from(stripeEvents.paymentIntentSucceeded({ payment: 'pi_1', amount_minor: 100n }))

function open(database: Database, more: Partial<PaidOnceOptions> = {}): PaidOnce {
  return new PaidOnce(
    { mode: 'test', endpoints: { stripe: stripe({ webhookSecrets: SECRET }) }, ...more },
    database,
    { mode: 'test', buckets: 1, epoch: 1n },
    { verified() {}, refused() {}, answered() {}, fault() {} },
  )
}

async function deliver(paidonce: PaidOnce, secret: string, at_ms: number): Promise<number> {
  const headers = signStripe(body, secret, at_ms)
  return (await paidonce.receive({ endpoint: 'stripe', method: 'POST', headers, body })).status
}

async function raised(paidonce: PaidOnce): Promise<string[]> {
  await paidonce.watch.written()
  const text = `select kind, (select count(*)::int from effects where topic = 'exception.opened') as alerts from exceptions`
  const rows = await paidonce.database.query<{ kind: string; alerts: number }>({ name: '', text })
  return rows.map(({ kind, alerts }) => `${kind} ${alerts}`)
}

withDatabases('refusals', (open_database) => {
  it('P58 case-03 raise one exception when many signed times are far from our clock, either way', async () => {
    const paidonce = open(await open_database())
    for (let count = 0; count < 9; count += 1) {
      expect(await deliver(paidonce, SECRET, Date.now() + (count % 2 === 0 ? 1 : -1) * 600_000)).toBe(401)
    }
    expect(await raised(paidonce)).toEqual([])
    for (let count = 0; count < 30; count += 1) await deliver(paidonce, SECRET, Date.now() - 600_000)
    expect(await raised(paidonce)).toEqual(['clock_skew 1'])
    expect(await deliver(paidonce, SECRET, Date.now())).toBe(200)
  })

  it('P42 case-04 raise one exception when an endpoint keeps refusing signatures', async () => {
    const paidonce = open(await open_database())
    for (let count = 0; count < 60; count += 1) {
      expect(await deliver(paidonce, 'whsec_c29tZWJvZHktZWxzZQ', Date.now())).toBe(401)
    }
    expect(await raised(paidonce)).toEqual(['signature_failed 1'])
  })

  it('P07 P42 case-08 name the size of a body that was too large', async () => {
    const paidonce = open(await open_database(), { limits: { body_max: 100 } })
    expect(await deliver(paidonce, SECRET, Date.now())).toBe(413)
    await paidonce.watch.written()
    const rows = await paidonce.database.query<{ message: string }>({
      name: '',
      text: 'select message from exceptions',
    })
    expect(rows).toHaveLength(1)
    expect(rows[0]!.message).toContain(`${body.length} bytes`)
  })
})
