import { beforeEach, expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { outbox, StandingClock } from '../../test/outbox.ts'
import type { Database } from '../store/database.ts'
import { closeOpenExceptions, openExceptions, restateExceptions } from '../store/exception-alerts.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
import { Exceptions } from './exceptions.ts'

const HOUR_MS = 3_600_000

withDatabases('exceptions', (open) => {
  let database: Database
  let clock: StandingClock
  let exceptions: Exceptions

  beforeEach(async () => {
    database = await open()
    clock = new StandingClock()
    exceptions = new Exceptions(database, 1, clock.now_ms)
  })

  function about(given: Partial<NewException> = {}): NewException {
    return {
      tenant: 'default',
      subject_kind: 'endpoint',
      subject_id: 0n,
      subject_key: 'stripe',
      kind: 'signature_failed',
      cause: '-',
      origin: 'receive',
      severity: 'urgent',
      message: 'Endpoint stripe refused 20 signatures within a minute.',
      alert_at: clock.now(),
      ...given,
    }
  }

  const duePayment = () =>
    about({
      subject_kind: 'payment',
      subject_id: 7n,
      subject_key: 'stripe/default/pi_1',
      kind: 'dispute_opened',
      cause: 'dp_1',
      origin: 'rules',
      severity: 'warning',
      message: 'Dispute dp_1 is open at stage inquiry.',
    })

  const raise = (...raised: NewException[]) => openExceptions(database, 0, clock.now(), raised)

  async function closeByFacts(exception: NewException) {
    const standing = await loadOpenExceptions(database, 0, exception.origin, [exception])
    await closeOpenExceptions(database, 0, clock.now(), standing)
  }

  const only = async () => (await exceptions.list({ state: 'all' }))[0]!
  const history = async () =>
    (await exceptions.show((await only()).id)).history.map(({ kind, actor, words, occurrence }) => [
      occurrence,
      kind,
      actor,
      words,
    ])

  it('P42 keeps owner, age and history: who did what, and what facts did', async () => {
    await raise(about())
    const { id } = await only()
    clock.advance(HOUR_MS)
    await exceptions.assign({ id, actor: 'ada', owner: 'bob' })
    await exceptions.acknowledge({ id, actor: 'bob' })
    await exceptions.note({ id, actor: 'bob', text: ' asked the provider\nthey look ' })
    expect(await only()).toMatchObject({
      owner: 'bob',
      acknowledged_by: 'bob',
      acknowledged_at: clock.now(),
      age_ms: HOUR_MS,
      occurrence: 1,
      next: expect.stringContaining("provider's dashboard"),
    })
    clock.advance(HOUR_MS)
    await closeByFacts(about())
    clock.advance(HOUR_MS)
    expect(await only()).toMatchObject({ state: 'closed', age_ms: 2 * HOUR_MS, closed_by: '' })
    await raise(about({ message: 'again' }))
    // It stays with whoever had it, and has to be seen anew.
    expect(await only()).toMatchObject({
      state: 'open',
      owner: 'bob',
      acknowledged_at: null,
      acknowledged_by: '',
      occurrence: 2,
      age_ms: 0,
    })
    await exceptions.resolve({ id, actor: 'ada', reason: 'secret replaced' })
    expect(await only()).toMatchObject({ state: 'closed', closed_by: 'ada' })
    expect(await history()).toEqual([
      [1, 'opened', '', about().message],
      [1, 'assigned', 'ada', 'bob'],
      [1, 'acknowledged', 'bob', ''],
      [1, 'note', 'bob', 'asked the provider\nthey look'],
      [1, 'closed', '', ''],
      [2, 'reopened', '', 'again'],
      [2, 'resolved', 'ada', 'secret replaced'],
    ])
  })

  it('writes nothing down when the same thing is raised again while it stands', async () => {
    await raise(about())
    await raise(about(), about())
    expect(await history()).toHaveLength(1)
    expect(await outbox(database)).toHaveLength(1)
  })

  it('closes what the rules raise only by facts or decisions', async () => {
    await raise(duePayment())
    const { id } = await only()
    const resolved = exceptions.resolve({ id, actor: 'ada', reason: 'enough of it' })
    await expect(resolved).rejects.toMatchObject({
      code: 'exception_ruled',
      message: expect.stringContaining("answer it in the provider's dashboard"),
    })
    expect(await only()).toMatchObject({ state: 'open' })
    expect(await history()).toHaveLength(1)
  })

  it('takes the alert back when a person resolves what nobody was told of yet', async () => {
    await raise(about())
    const { id } = await only()
    await exceptions.resolve({ id, actor: 'ada', reason: 'seen it myself' })
    await exceptions.resolve({ id, actor: 'ada', reason: 'and once more' })
    expect((await outbox(database)).map(({ state }) => state)).toEqual(['withdrawn'])
    expect(await history()).toHaveLength(2)
  })

  it('P42 tells once more of what gets worse while it stands, and not of what gets milder', async () => {
    await raise(duePayment())
    const say = async (now: Partial<NewException>) => {
      const [standing] = await loadOpenExceptions(database, 0, 'rules', [duePayment()])
      const restated = [{ open: standing!, now: { ...duePayment(), ...now } }]
      await restateExceptions(database, 0, clock.now(), restated)
    }
    await say({})
    await say({ message: 'Answer it by Monday.' })
    expect(await outbox(database)).toHaveLength(1)
    await say({ severity: 'urgent', message: 'It is a chargeback now.' })
    await say({ severity: 'urgent', message: 'It is a chargeback now.' })
    await say({ severity: 'warning', message: 'An inquiry after all.' })
    expect((await outbox(database)).map(({ cause }) => cause)).toEqual([
      'payment:stripe/default/pi_1/dispute_opened/dp_1/1',
      'payment:stripe/default/pi_1/dispute_opened/dp_1/1/urgent',
    ])
    expect(await history()).toEqual([
      [1, 'opened', '', duePayment().message],
      [1, 'escalated', '', 'It is a chargeback now.'],
    ])
    expect(await only()).toMatchObject({ severity: 'warning', message: 'An inquiry after all.' })
    await closeByFacts(duePayment())
    expect((await outbox(database)).map(({ state }) => state)).toEqual(['withdrawn', 'withdrawn'])
  })

  it('lists by kind, severity, state, owner, subject, age and tenant, urgent first', async () => {
    await raise(about(), duePayment())
    clock.advance(2 * HOUR_MS)
    await raise(
      about({ subject_key: 'paddle', severity: 'notice', kind: 'clock_skew' }),
      about({ tenant: 'other' }),
    )
    const [, mine] = await exceptions.list()
    await exceptions.assign({ id: mine!.id, actor: 'ada', owner: 'ada' })
    const found = async (query: Parameters<Exceptions['list']>[0]) =>
      (await exceptions.list(query)).map((one) => `${one.tenant} ${one.subject_key} ${one.severity}`)
    const [own, other, dispute, skew] = [
      'default stripe urgent',
      'other stripe urgent',
      'default stripe/default/pi_1 warning',
      'default paddle notice',
    ]
    expect(await found({})).toEqual([other, own, dispute, skew])
    expect(await found({ kind: 'clock_skew' })).toEqual([skew])
    expect(await found({ severity: 'urgent', tenant: 'default' })).toEqual([own])
    expect(await found({ owner: 'ada' })).toEqual([own])
    expect(await found({ owner: '' })).toEqual([other, dispute, skew])
    expect(await found({ subject: 'stripe/default/pi_1' })).toEqual([dispute])
    expect(await found({ older_than_ms: HOUR_MS })).toEqual([own, dispute])
    expect(await found({ limit: 1 })).toEqual([other])
    await closeByFacts(about())
    expect(await found({ state: 'closed' })).toEqual([own])
    expect(await found({ state: 'all' })).toEqual([other, dispute, skew, own])
  })

  it('P29 tells both of two tenants whose endpoints have the same name', async () => {
    await raise(about(), about({ tenant: 'other' }))
    expect((await outbox(database)).map(({ cause }) => cause).sort()).toEqual([
      'default/endpoint:stripe/signature_failed/-/1',
      'other/endpoint:stripe/signature_failed/-/1',
    ])
  })

  it('refuses what nobody does, what says nothing, and what is not there', async () => {
    await raise(about())
    const { id } = await only()
    const blank = { code: 'decision_invalid' }
    await expect(exceptions.note({ id, actor: ' ', text: 'x' })).rejects.toMatchObject(blank)
    await expect(exceptions.note({ id, actor: 'ada', text: ' \n' })).rejects.toMatchObject(blank)
    await expect(exceptions.note({ id, actor: 'ada', text: 'a\u0000b' })).rejects.toMatchObject(blank)
    await expect(exceptions.note({ id, actor: 'ada', text: 'x'.repeat(2_001) })).rejects.toMatchObject(blank)
    await expect(exceptions.resolve({ id, actor: 'ada', reason: '' })).rejects.toMatchObject(blank)
    await expect(exceptions.acknowledge({ id: id + 1n, actor: 'ada' })).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(exceptions.show(id + 1n)).rejects.toMatchObject({ code: 'not_found' })
    expect(await history()).toHaveLength(1)
  })
})
