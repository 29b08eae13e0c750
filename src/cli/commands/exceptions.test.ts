import { expect, it } from 'vitest'
import { paidonce } from '../../../test/cli.ts'
import { withPostgres } from '../../../test/database.ts'
import type { Database } from '../../store/database.ts'
import { openExceptions } from '../../store/exception-alerts.ts'
import type { NewException } from '../../store/queries/raise-exceptions.ts'

withPostgres('paidonce exceptions', (open, url) => {
  const run = (...args: string[]) => paidonce(['exceptions', ...args, '--database', url()])
  const json = async <T>(...args: string[]) => (await run(...args, '--json')).json<T>()

  async function raise(database: Database, given: Partial<NewException> = {}): Promise<string> {
    const now = new Date()
    const exception: NewException = {
      tenant: 'default',
      subject_kind: 'endpoint',
      subject_id: 0n,
      subject_key: 'stripe',
      kind: 'signature_failed',
      cause: '-',
      origin: 'receive',
      severity: 'urgent',
      message: 'Endpoint stripe refused 20 signatures within a minute.',
      alert_at: now,
      ...given,
    }
    await openExceptions(database, 0, now, [exception])
    const [found] = await json<{ id: string }[]>('list', '--kind', exception.kind)
    return found!.id
  }

  it('P42 lists what waits with what to do next, without a subcommand too', async () => {
    const database = await open()
    expect((await run()).out).toBe('Nothing waits for a decision.\n')
    const id = await raise(database)
    for (const args of [[], ['list'], ['--severity', 'urgent'], ['--unowned', '--older-than', '0']]) {
      const { out, status } = await run(...args)
      expect(status).toBe(0)
      expect(out).toContain(`${id}  urgent  signature_failed  endpoint stripe  open for 0 min\n`)
      expect(out).toContain('Endpoint stripe refused 20 signatures')
      expect(out).toMatch(/Next: compare its secret with the provider's dashboard/)
    }
    expect(await json('--kind', 'clock_skew')).toEqual([])
    expect(await json('--older-than', '1')).toEqual([])
    expect(await json<unknown[]>()).toMatchObject([
      { id, owner: '', severity: 'urgent', age_ms: expect.any(Number) },
    ])
  })

  it('P42 keeps who had it, who saw it, what was written and who closed it', async () => {
    const id = await raise(await open())
    const by = ['--actor', 'ada']
    expect((await run('assign', id, 'bob', ...by)).out).toBe(`Exception ${id} has its owner.\n`)
    expect((await run('acknowledge', id, '--actor', 'bob')).status).toBe(0)
    expect((await run('note', id, 'asked the provider', ...by)).status).toBe(0)
    expect((await run()).out).toContain("bob's  seen by bob")
    expect(await json<unknown[]>('--owner', 'bob')).toHaveLength(1)
    expect((await run('resolve', id, '--reason', 'secret replaced', ...by)).status).toBe(0)
    expect((await run()).out).toContain('Nothing waits')
    expect((await run('--all')).out).toContain('closed 20')
    const { out } = await run('show', id)
    const lines = out.split('\n').map((line) => line.replace(/^\d{4}-\S+ \S+ {2}/, ''))
    expect(lines).toEqual(
      expect.arrayContaining([
        'opened: Endpoint stripe refused 20 signatures within a minute.',
        'assigned by ada: bob',
        'acknowledged by bob',
        'note by ada: asked the provider',
        'resolved by ada: secret replaced',
      ]),
    )
  })

  it('says what to do instead of closing what the rules raise', async () => {
    const id = await raise(await open(), {
      subject_kind: 'order',
      subject_id: 7n,
      subject_key: 'A-1',
      kind: 'underpayment',
      origin: 'rules',
    })
    const { status, notes } = await run('resolve', id, '--reason', 'enough')
    expect(status).toBe(1)
    expect(notes).toMatch(
      /^exception_ruled: .*closes only by facts or by a decision.*ask the buyer for the rest/,
    )
  })

  it('P42 work looks for what nobody tells, and tells it once', async () => {
    const database = await open()
    await database.script(`
      insert into payments (bucket, id, facts_rev, tenant, namespace, account, provider_payment_id, status, created_at, updated_at)
      values (0, 7, 1, 'default', 'stripe', 'default', 'pi_1', 'succeeded', now(), now());
      insert into disputes (bucket, updated_at, payment_id, tenant, namespace, account, provider_dispute_id, stage, status, respond_by)
      values (0, now(), 7, 'default', 'stripe', 'default', 'dp_1', 'chargeback', 'needs_response', now() + interval '1 day')`)
    const work = () => paidonce(['work', '--once', '--database', url()])
    const first = await work()
    expect(first).toMatchObject({ status: 0, out: expect.stringMatching(/"kind":"dispute_deadline"/) })
    expect((await work()).out).toBe('')
    expect((await run()).out).toContain('urgent  dispute_deadline  payment stripe/default/pi_1')
  })

  it('refuses what is no number, no severity, has no reason or is not there', async () => {
    await open()
    for (const args of [
      ['show', 'first'],
      ['resolve', '1'],
      ['note', '1'],
      ['--severity', 'loud'],
      ['nonsense', '1'],
    ])
      expect([args, (await run(...args)).status]).toEqual([args, 2])
    expect(await run('show', '1')).toMatchObject({
      status: 1,
      notes: expect.stringMatching(/^not_found: /),
    })
  })
})
