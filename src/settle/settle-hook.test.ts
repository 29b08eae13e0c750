import { beforeEach, expect, it } from 'vitest'
import { withDatabases, withPostgres } from '../../test/database.ts'
import { Merchant, type MerchantOptions } from '../../test/merchant.ts'
import type { OrderTerms } from '../facts/order.ts'
import { paymentMilestone } from '../facts/payment.ts'
import type { Database } from '../store/database.ts'
import type { EntitlementChanged, HookTransaction, OnEntitlement } from './hook.ts'

const TERMS: OrderTerms = { amount_minor: 100n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }
const ANNOUNCED = ['entitlement.changed licence 1 due', 'receipt.due - 0 due']

function pay(merchant: Merchant, order: string) {
  const content = { milestone: 'succeeded', amount_minor: 100n, currency: 'USD', order } as const
  return merchant.event(`evt_${order}`, [paymentMilestone(merchant.payment(`pi_${order}`), content)])
}

/** A merchant whose orders A and B are registered before its hook comes to play. */
async function merchantWith(database: Database, onEntitlement: OnEntitlement, options: MerchantOptions = {}) {
  const plain = new Merchant(database)
  await plain.settle(plain.order('A', TERMS), plain.order('B', TERMS))
  return new Merchant(database, { tenant: plain.tenant, onEntitlement, hook_limit_ms: 300, ...options })
}

/** Only order A's hook misbehaves. */
function onlyA(misbehave: (tx: HookTransaction, change: EntitlementChanged) => Promise<unknown> | unknown) {
  return async (change: EntitlementChanged, tx: HookTransaction) => {
    await tx.query('insert into orders (tenant, note) values ($1, $2)', [change.tenant, change.order])
    if (change.order === 'A') await misbehave(tx, change)
  }
}

async function notes(merchant: Merchant): Promise<string[]> {
  const rows = await merchant.rows<{ note: string }>('select note from public.orders where tenant = $1', [
    merchant.tenant,
  ])
  return rows.map(({ note }) => note).sort()
}

/** What must hold whatever a hook did: A is whole but for its right, B is settled, and A settles once the hook is mended. */
async function expectKept(merchant: Merchant): Promise<void> {
  expect(await merchant.rights()).toEqual(['B licence granted'])
  expect(await notes(merchant)).toEqual(['B'])
  expect(await merchant.count(`payments where tenant = $1 and captured_minor = 100`)).toBe(2)
  expect(await merchant.count(`facts f join payments p on p.id = f.subject_id where p.tenant = $1`)).toBe(2)
  expect(await merchant.count(`events where tenant = $1 and state = 'kept'`)).toBe(1)
  expect(await merchant.count(`unsettled where tenant = $1`)).toBe(1)
  const mended = new Merchant(merchant.database, {
    tenant: merchant.tenant,
    onEntitlement: onlyA(() => undefined),
  })
  expect(await mended.outcomes(pay(mended, 'A'))).toEqual(['duplicate'])
  expect(await mended.sweep()).toEqual(['settled'])
  expect(await mended.rights()).toEqual(['A licence granted', 'B licence granted'])
  expect(await notes(mended)).toEqual(['A', 'B'])
  expect(await mended.effects()).toEqual([...ANNOUNCED, ...ANNOUNCED].sort())
  expect(await mended.count(`unsettled where tenant = $1`)).toBe(0)
}

withDatabases('the merchant’s hook', (open) => {
  beforeEach(async () => {
    const database = await open()
    await database.script('create table if not exists public.orders (tenant text, note text)')
    await database.script('delete from public.orders')
  })

  it('P11 P57 sees its own tables, not ours of the same name, and commits with us', async () => {
    const changes: EntitlementChanged[] = []
    const merchant = await merchantWith(await open(), async (change, tx) => {
      changes.push(change)
      const { rows } = await tx.query<{ path: string }>({
        text: `select current_setting('search_path') as path`,
      })
      expect(rows[0]!.path).not.toContain('paidonce')
      await tx.query('insert into orders (tenant, note) values ($1, $2)', [change.tenant, change.order])
    })
    expect(await merchant.outcomes(pay(merchant, 'A'), pay(merchant, 'B'))).toEqual(['settled', 'settled'])
    expect(await notes(merchant)).toEqual(['A', 'B'])
    const told = { item: 'licence', quantity: 1, state: 'granted', previous: 'none', revision: 1, epoch: 1n }
    expect(changes).toEqual([
      { ...told, tenant: merchant.tenant, order: 'A' },
      { ...told, tenant: merchant.tenant, order: 'B' },
    ])
    // Nothing changed, so there is nothing to tell.
    expect(await merchant.outcomes(pay(merchant, 'A'))).toEqual(['duplicate'])
    expect(changes).toHaveLength(2)
  })

  const misbehaviours: Record<string, (tx: HookTransaction, change: EntitlementChanged) => unknown> = {
    'throws after it wrote': () => {
      throw new Error('out of licences')
    },
    'throws nothing at all': () => Promise.reject(undefined),
    'swallows the failure of its own query': (tx) => tx.query('select 1 / 0').catch(() => undefined),
    'swallows a failure inside a transaction of its own': async (tx) => {
      await tx.query('begin')
      await tx.query('select 1 / 0').catch(() => undefined)
      await tx.query('commit').catch(() => undefined)
    },
    'leaves a failing query unawaited': (tx) => {
      tx.query('select 1 / 0').catch(() => undefined)
    },
    'commits our transaction': (tx) => tx.query('commit'),
    'commits our transaction and swallows the refusal': (tx) => tx.query('COMMIT').catch(() => undefined),
    'ends our transaction': (tx) => tx.query('  end transaction'),
    'rolls our transaction back': (tx) => tx.query('rollback'),
    'aborts our transaction': (tx) => tx.query('abort'),
    'commits behind a comment': (tx) => tx.query('/* trace=1 */ commit'),
    'commits behind a nested comment': (tx) => tx.query('/* a /* b */ */ commit'),
    'commits behind a line comment': (tx) => tx.query('-- trace\ncommit'),
    'commits behind a semicolon': (tx) => tx.query('; commit'),
    'commits behind another statement': (tx, { tenant }) =>
      tx.query(`insert into orders values ('${tenant}', 'half'); commit`),
    'rolls back behind another statement': (tx) => tx.query('select 1; rollback; begin'),
    'prepares our transaction for another': (tx) => tx.query(`prepare transaction 'x'`),
    'changes the session’s search path': (tx) => tx.query('set search_path to public'),
    'changes a setting of the session': (tx) => tx.query(`set session statement_timeout = '1s'`),
    'deallocates our statements': (tx) => tx.query('deallocate all'),
    'discards the session': (tx) => tx.query('discard all'),
    'resets the session': (tx) => tx.query('reset all'),
    'changes the isolation level': (tx) => tx.query('set transaction isolation level serializable'),
    'takes longer than it may': () => new Promise(() => undefined),
  }
  for (const [name, misbehave] of Object.entries(misbehaviours)) {
    it(`P57 P11 that ${name} changes nothing that was not committed with it`, async () => {
      const merchant = await merchantWith(await open(), onlyA(misbehave))
      expect(await merchant.outcomes(pay(merchant, 'A'), pay(merchant, 'B'))).toEqual(['kept', 'settled'])
      await expectKept(merchant)
    })
  }

  it('P57 may use savepoints, transactions of its own and settings of this transaction', async () => {
    const merchant = await merchantWith(
      await open(),
      onlyA(async (tx, { tenant }) => {
        const note = (text: string) => tx.query('insert into orders values ($1, $2)', [tenant, text])
        await tx.query('BEGIN')
        await note('inner, committed')
        await tx.query('/* nested */ start transaction')
        await note('nested, rolled back')
        await tx.query('ROLLBACK')
        await tx.query('select 1 / 0').catch(() => undefined)
        await tx.query('rollback')
        await tx.query('begin')
        await note('second, committed')
        await tx.query('end')
        await tx.query('savepoint mine')
        await note('savepoint, rolled back')
        await tx.query('rollback to savepoint mine')
        await tx.query(`set local app.user_id = '7'`)
      }),
    )
    expect(await merchant.outcomes(pay(merchant, 'A'), pay(merchant, 'B'))).toEqual(['settled', 'settled'])
    // The failed query took its own transaction with it, and with that what it had committed inside.
    expect(await notes(merchant)).toEqual(['A', 'B', 'second, committed'])
  })

  it('P57 never runs under a setting that the hook of another order made', async () => {
    const seen: [string, string][] = []
    const merchant = await merchantWith(await open(), async (change, tx) => {
      await tx.query(`set local app.order_reference = '${change.order}'`)
      await tx.query('select 1')
      const read = `select current_setting('app.order_reference') as reference`
      const { rows } = await tx.query<{ reference: string }>(read)
      seen.push([change.order, rows[0]!.reference])
    })
    await merchant.settle(pay(merchant, 'A'), pay(merchant, 'B'))
    expect(seen.sort()).toEqual([
      ['A', 'A'],
      ['B', 'B'],
    ])
  })

  it('P57 keeps its savepoints apart from those of other orders', async () => {
    const merchant = await merchantWith(await open(), async (change, tx) => {
      const note = (text: string) =>
        tx.query('insert into orders values ($1, $2)', [change.tenant, `${change.order} ${text}`])
      await note('before')
      await tx.query('savepoint mine')
      await note('inside')
      await tx.query('rollback to savepoint mine')
    })
    expect(await merchant.outcomes(pay(merchant, 'A'), pay(merchant, 'B'))).toEqual(['settled', 'settled'])
    expect(await notes(merchant)).toEqual(['A before', 'B before'])
  })

  it('P57 that goes on after its time limit writes nothing any more', async () => {
    const late: unknown[] = []
    let goOn: () => void = () => undefined
    const over = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const finished: Promise<unknown>[] = []
    const merchant = await merchantWith(
      await open(),
      onlyA((tx, { tenant }) => {
        const rest = over.then(() => tx.query('insert into orders values ($1, $2)', [tenant, 'late']))
        finished.push(rest.catch((error) => late.push(error)))
        return rest
      }),
    )
    expect(await merchant.outcomes(pay(merchant, 'A'), pay(merchant, 'B'))).toEqual(['kept', 'settled'])
    goOn()
    await Promise.all(finished)
    // Once beside its neighbours and once alone.
    expect(late).toHaveLength(2)
    for (const refused of late) expect(refused).toMatchObject({ code: 'hook_revoked' })
    await expectKept(merchant)
  })

  it('P57 that has returned cannot use its transaction any more', async () => {
    const held: HookTransaction[] = []
    const merchant = await merchantWith(await open(), (_change, tx) => {
      held.push(tx)
    })
    await merchant.settle(pay(merchant, 'A'))
    await expect(held[0]!.query('select 1')).rejects.toMatchObject({ code: 'hook_revoked' })
  })

  it('P57 that keeps failing is left alone for a while, and what needs it is kept', async () => {
    let now_ms = 0
    let runs = 0
    let failing = true
    const onEntitlement = () => {
      runs += 1
      if (failing) throw new Error('out of order')
    }
    const options = { breaker_failures: 3, breaker_pause_ms: 1_000, now_ms: () => now_ms }
    const merchant = new Merchant(await open(), { onEntitlement, ...options })
    const tell = async (id: string) => {
      await merchant.outcomes(merchant.order(id, TERMS))
      return (await merchant.outcomes(pay(merchant, id)))[0]
    }
    for (const id of ['1', '2', '3', '4', '5']) expect(await tell(id)).toBe('kept')
    expect(runs).toBe(3)
    failing = false
    now_ms = 999
    expect(await tell('6')).toBe('kept')
    now_ms = 1_000
    expect(await tell('7')).toBe('settled')
    expect(runs).toBe(4)
    for (const outcome of await merchant.sweep()) expect(outcome).toBe('settled')
    expect(await merchant.rights()).toHaveLength(7)
    expect(await merchant.count(`payments where tenant = $1 and captured_minor = 100`)).toBe(7)
  })

  it('P57 that hangs costs a whole batch its time limit a few times, not once per order', async () => {
    const merchant = new Merchant(await open(), {
      onEntitlement: () => new Promise(() => undefined),
      hook_limit_ms: 50,
    })
    const ids = Array.from({ length: 40 }, (_, index) => `${index}`)
    await merchant.settle(...ids.map((id) => merchant.order(id, TERMS)))
    const began = Date.now()
    const outcomes = await merchant.outcomes(...ids.map((id) => pay(merchant, id)))
    expect(new Set(outcomes)).toEqual(new Set(['kept']))
    expect(Date.now() - began).toBeLessThan(2_000)
  })
})

withPostgres('connections that a hook has used', (open) => {
  it('P57 are not waited for when the server takes longer than the hook may', async () => {
    const database = await open()
    await database.script('create table if not exists public.orders (tenant text, note text)')
    const merchant = await merchantWith(
      database,
      onlyA((tx) => tx.query('select pg_sleep(5)')),
    )
    const began = Date.now()
    expect(await merchant.outcomes(pay(merchant, 'A'), pay(merchant, 'B'))).toEqual(['kept', 'settled'])
    expect(Date.now() - began).toBeLessThan(2_500)
    await expectKept(merchant)
  })

  const poisons = {
    'tried to set a search path for the session': `select set_config('search_path', 'public', false)`,
    'tried to set a role': 'set role postgres',
    'tried to set a lock timeout for the session': `select set_config('lock_timeout', '1ms', false)`,
  }
  for (const [name, text] of Object.entries(poisons)) {
    it(`P57 settle as before after it ${name}`, async () => {
      const database = await open({ apart: true, max: 1 })
      await database.script('create table if not exists public.orders (tenant text, note text)')
      const merchant = await merchantWith(database, async (_change, tx) => {
        await tx.query(text).catch(() => undefined)
      })
      await merchant.settle(pay(merchant, 'A'))
      const next = new Merchant(database)
      expect(await next.outcomes(next.order('A', TERMS), pay(next, 'A'))).toEqual(['settled', 'settled'])
      const [row] = await next.rows<{ lock_timeout: string }>(
        `select current_setting('lock_timeout') as lock_timeout`,
      )
      expect(row!.lock_timeout).toBe('0')
      expect(await next.rights()).toEqual(['A licence granted'])
    })
  }
})
