import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { embeddedDatabase, ownDirectory, paidonce } from '../../test/cli.ts'
import { withPostgres } from '../../test/database.ts'
import { openShop, SHOP_SECRET } from '../../test/stripe-shop.ts'
import { stripeEvents } from '../providers/stripe/index.ts'
import { serve } from '../server/index.ts'

const SALE = { payment: 'pi_1', amount_minor: 1_999n, order: 'A-1' }

describe('usage', () => {
  it('ends with 2 and says what is wrong when called wrongly', async () => {
    for (const args of [
      ['nonsense'],
      ['orders', 'show'],
      ['orders', 'create', 'A-1'],
      ['effects', 'list', '--limit', 'many'],
      ['effects', 'retry', 'first'],
      ['replay'],
      ['replay', '--state', 'lost'],
      ['send', 'nobody', '--secret', 'x'],
      ['audit', '--unknown'],
    ]) {
      const { status, out, notes } = await paidonce(args)
      expect([args, status, out]).toEqual([args, 2, ''])
      expect(notes).not.toBe('')
    }
  })

  it('shows help and version and ends with 0', async () => {
    expect(await paidonce(['--help'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('replay'),
    })
    expect((await paidonce(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('prints a fault as code and message, and ends with 1', async () => {
    const directory = ownDirectory()
    const { status, notes, out } = await paidonce(['audit'], { cwd: directory.path })
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(notes).toMatch(/^not_found: There is no database in .*paidonce demo/)
    expect(existsSync(join(directory.path, '.paidonce'))).toBe(false)
    directory.remove()
  })
})

describe('configuration', () => {
  const directory = ownDirectory()
  afterAll(() => directory.remove())

  it('init writes one that teaches, and does not overwrite it', async () => {
    const before = process.cwd()
    process.chdir(directory.path)
    try {
      expect((await paidonce(['init', '--json'])).status).toBe(0)
      const file = join(directory.path, 'paidonce.config.ts')
      expect(readFileSync(file, 'utf8')).toContain('onEntitlement')
      const again = await paidonce(['init'])
      expect(again).toMatchObject({ status: 1, notes: expect.stringContaining('--force') })
      expect((await paidonce(['init', '--force'])).status).toBe(0)
    } finally {
      process.chdir(before)
    }
  })

  it('P06 what init wrote refuses to start without its secret', async () => {
    const { status, out } = await paidonce(['doctor', '--json'], { cwd: directory.path })
    expect(status).toBe(1)
    expect(out).toContain('secret_missing')
  })

  it('P06 and reads well with its secret, which nothing prints', async () => {
    process.env.STRIPE_WEBHOOK_SECRET = ` ${SHOP_SECRET} `
    try {
      const { out } = await paidonce(['doctor', '--json'], { cwd: directory.path })
      const findings = JSON.parse(out) as { check: string; result: string; detail: string }[]
      const of = (check: string) => findings.filter((finding) => finding.check === check)
      expect(of('configuration')).toMatchObject([{ result: 'ok' }])
      expect(of('endpoint stripe')).toContainEqual(
        expect.objectContaining({ result: 'warning', detail: expect.stringContaining('white space') }),
      )
      expect(of('database')).toMatchObject([
        { result: 'problem', detail: expect.stringContaining('not_found') },
      ])
      expect(out).not.toContain(SHOP_SECRET)
    } finally {
      delete process.env.STRIPE_WEBHOOK_SECRET
    }
  })

  it('says when the file is missing, broken or empty', async () => {
    const run = (text: string | null) => {
      const file = join(directory.path, 'other.config.mjs')
      if (text !== null) writeFileSync(file, text)
      return paidonce(['migrate', '--config', text === null ? 'nowhere.ts' : file], { cwd: directory.path })
    }
    expect((await run(null)).notes).toMatch(/^config_not_found: /)
    expect((await run('export default {')).notes).toMatch(/^config_invalid: .*could not be read/)
    expect((await run('export default 7')).notes).toMatch(/^config_invalid: .*export its options/)
  })

  it('P06 names a key of the wrong mode', async () => {
    const file = join(directory.path, 'wrong-mode.config.ts')
    writeFileSync(
      file,
      `import { stripe } from 'paidonce/stripe'
      export default { mode: 'live', endpoints: { s: stripe({ webhookSecrets: '${SHOP_SECRET}', apiKey: 'sk_test_51abcdefghijklmnop' }) } }`,
    )
    const { status, notes } = await paidonce(['audit', '--config', file])
    expect({ status, notes }).toEqual({ status: 1, notes: expect.stringMatching(/^mode_mismatch: /) })
  })
})

withPostgres('commands', (open, url) => {
  const run = (...args: string[]) => paidonce([...args, '--database', url()])
  const json = async <T>(...args: string[]) => (await run(...args, '--json')).json<T>()

  it('registers an order, and shows what happened to it', async () => {
    const database = await open()
    const created = await run(
      'orders',
      'create',
      'A-1',
      '--amount',
      '19.99',
      '--currency',
      'usd',
      '--item',
      'licence:pro',
      'seat=5',
    )
    expect(created).toMatchObject({ status: 0, out: 'Order A-1 is registered; it is awaiting_payment.\n' })
    const shop = openShop(database)
    const body = stripeEvents.chargeSucceeded(SALE)
    await shop.deliver(body)
    await shop.deliver(body)
    await shop.deliver(stripeEvents.refundCreated({ ...SALE, amount_minor: 999n }))

    const { out } = await run('orders', 'show', 'A-1')
    for (const text of [
      '$19.99',
      'licence:pro',
      'granted',
      'refund re_1',
      'charge.succeeded',
      'came 2 times',
      'entitlement.changed',
    ]) {
      expect(out).toContain(text)
    }
    const story = await json<{ order: { net_minor: string }; facts: unknown[]; entitlements: unknown[] }>(
      'orders',
      'show',
      'A-1',
    )
    expect(story.order.net_minor).toBe('1000')
    expect(story.entitlements).toHaveLength(2)
    expect(story.facts.length).toBeGreaterThan(2)
    expect(await json<unknown[]>('orders', 'list', '--status', 'partially_refunded')).toHaveLength(1)
    expect(await json<unknown[]>('orders', 'list', '--status', 'charged_back')).toEqual([])
    expect((await run('orders', 'show', 'A-2')).status).toBe(1)
  })

  it('refuses an amount that its currency cannot hold', async () => {
    await open()
    const create = (...terms: string[]) => run('orders', 'create', 'A-9', '--item', 'x', ...terms)
    expect((await create('--amount', '1.5', '--currency', 'JPY')).status).toBe(2)
    expect((await create('--amount', '-1', '--currency', 'EUR')).status).toBe(2)
    expect((await create('--amount', '1', '--currency', 'ABC')).notes).toMatch(/^order_invalid: /)
  })

  it('P44 audit ends with 1 and names the row after somebody changed it by hand', async () => {
    const database = await open()
    const shop = openShop(database)
    await shop.order('A-1', 1_999n)
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    expect((await run('audit')).out).toContain('Everything stored is what the facts say.')
    expect((await run('audit', '--json')).status).toBe(0)
    await database.script(`update entitlements set state = 'revoked'`)
    const { status, out } = await run('audit', '--json')
    expect(status).toBe(1)
    expect(JSON.parse(out).differences).toEqual([
      { table: 'entitlements', row: 'A-1 licence', column: 'state', stored: 'revoked', derived: 'granted' },
    ])
    expect((await run('audit')).out).toContain('A-1 licence')
  })

  it('lists events and shows one, its bytes only when asked', async () => {
    const database = await open()
    const shop = openShop(database)
    const body = stripeEvents.chargeSucceeded({ ...SALE, event: 'evt_shown' })
    await shop.deliver(body)
    await shop.deliver(stripeEvents.chargeSucceeded({ ...SALE, event: 'evt_live', live: true }))
    expect((await run('events', 'list')).out).toContain('evt_shown')
    const misdirected = await json<{ event_key: string }[]>('events', 'list', '--state', 'misdirected')
    expect(misdirected.map((event) => event.event_key)).toEqual(['evt_live'])
    const shown = await run('events', 'show', 'evt_shown')
    expect(shown.out).toContain('attempt/ch_1/succeeded')
    expect(shown.out).not.toContain('payment_method_details')
    expect((await run('events', 'show', 'evt_shown', '--body')).out).toBe(body)
    expect((await run('events', 'show', 'evt_none')).status).toBe(1)
  })

  it('says why an event is kept', async () => {
    const log: unknown[] = []
    const onEntitlement = () => {
      throw new Error('relation "licences" does not exist')
    }
    const shop = openShop(await open(), {
      options: { onEntitlement, log: (level, message, details) => log.push([level, message, details?.code]) },
    })
    await shop.order('A-1', 1_999n)
    expect(await shop.deliver(stripeEvents.chargeSucceeded({ ...SALE, event: 'evt_kept' }))).toBe(200)
    const why = 'relation "licences" does not exist'
    expect((await run('events', 'list')).out).toContain(why)
    expect((await run('events', 'show', 'evt_kept')).out).toContain(`kept: ${why}`)
    const message = expect.stringContaining(`A hook failed: ${why}`)
    expect(log).toContainEqual(['error', message, 'hook_failed'])
  })

  it('lists exceptions with what to do', async () => {
    const database = await open()
    await openShop(database).deliver(stripeEvents.chargeSucceeded(SALE))
    expect((await run('exceptions')).out).toMatch(
      /register it, or refund the payment\.\n {2}Next: register .*\n\n1 shown\. .*\n$/,
    )
    expect(await json<unknown[]>('exceptions', '--kind', 'unknown_order')).toHaveLength(1)
    expect((await run('exceptions', '--kind', 'late_reversal')).out).toBe('Nothing waits for a decision.\n')
  })

  it('lists effects, retries a dead one and discards one', async () => {
    const database = await open()
    const shop = openShop(database)
    await shop.order('A-1', 1_999n)
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    await database.script(`update effects set state = 'dead', attempts = 12, last_error = 'no route'`)
    const [dead] = await json<{ id: string }[]>('effects', 'list', '--state', 'dead', '--order', 'A-1')
    expect((await run('effects', 'list')).out).toContain('no route')
    expect((await run('doctor')).status).toBe(1)
    expect(await run('effects', 'retry', dead!.id, '--reason', 'mended')).toMatchObject({ status: 0 })
    expect(await json<unknown[]>('effects', 'list', '--state', 'due')).toHaveLength(1)
    expect(await run('effects', 'discard', dead!.id)).toMatchObject({ status: 0 })
    expect((await run('effects', 'discard', dead!.id)).notes).toMatch(/^effect_not_retriable: /)
    expect((await run('effects', 'retry', '99999999')).notes).toMatch(/^not_found: /)
  })

  it('P43 replays with a dry run first, and refuses what has no endpoint', async () => {
    const database = await open()
    await openShop(database).deliver(stripeEvents.chargeSucceeded(SALE))
    const { status, out } = await run('replay', '--all', '--dry-run', '--json')
    expect(status).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      dry_run: true,
      refused: 1,
      refusals: [{ reason: 'no endpoint stripe is configured' }],
    })
    const directory = ownDirectory()
    const file = join(directory.path, 'paidonce.config.ts')
    writeFileSync(
      file,
      `import { stripe } from 'paidonce/stripe'
      export default {
        mode: 'test' as const,
        database: ${JSON.stringify(url())},
        endpoints: { stripe: stripe({ webhookSecrets: '${SHOP_SECRET}' }) },
      }`,
    )
    const replayed = await paidonce(['replay', '--all'], { cwd: directory.path })
    expect(replayed.status).toBe(0)
    expect(replayed.out).toMatch(/read again +1/)
    expect(replayed.progress.at(-1)).toMatchObject({ done: 1, total: 1 })
    const doctor = await paidonce(['doctor', '--json'], { cwd: directory.path })
    expect(doctor.out).not.toContain(SHOP_SECRET)
    expect(doctor.json<unknown[]>()).toContainEqual({
      check: 'endpoint stripe',
      result: 'ok',
      detail: expect.stringContaining('delivers again for 72 hours'),
    })
    directory.remove()
  })

  it('sends a signed sample that a running receiver takes', async () => {
    const database = await open()
    const shop = openShop(database)
    await shop.order('A-1', 1_999n)
    const server = await serve(shop.paidonce, { port: 0 })
    const to = `http://127.0.0.1:${server.port}/webhooks/stripe`
    const send = (...args: string[]) => paidonce(['send', '--url', to, '--order', 'A-1', ...args])
    try {
      const sent = await send('--secret', SHOP_SECRET, '--json')
      expect(sent).toMatchObject({ status: 0 })
      expect(sent.json()).toMatchObject({ status: 200 })
      expect((await send('--secret', 'whsec_another')).status).toBe(1)
      expect((await send()).notes).toMatch(/^secret_missing: /)
      expect((await paidonce(['send', 'stripe', 'odd', '--url', to, '--secret', SHOP_SECRET])).status).toBe(2)
      const story = await json<{ order: { status: string } }>('orders', 'show', 'A-1')
      expect(story.order.status).toBe('paid')
    } finally {
      await server.close()
    }
    const again = await serve(shop.paidonce, { port: server.port })
    const taken = await run('serve', '--port', `${server.port}`)
    await again.close()
    expect(taken).toMatchObject({ status: 1, notes: expect.stringMatching(/^config_invalid: .*EADDRINUSE/) })
    const late = await send('--secret', SHOP_SECRET)
    expect(late).toMatchObject({ status: 1, notes: expect.stringContaining('could not be reached') })
  })

  it('works once: settles what was kept and delivers what is due', async () => {
    const database = await open()
    const shop = openShop(database)
    await shop.order('A-1', 1_999n)
    await shop.deliver(stripeEvents.chargeSucceeded(SALE))
    const { status, out } = await run('work', '--once')
    expect(status).toBe(0)
    expect(JSON.parse(out.split('\n')[0]!)).toMatchObject({ topic: 'entitlement.changed', order: 'A-1' })
    expect(await json<unknown[]>('effects', 'list', '--state', 'due')).toEqual([])
  })

  it('says what mode and schema a database has', async () => {
    await open()
    expect(await json('migrate')).toMatchObject({ driver: 'postgres', schema: 'paidonce', mode: 'test' })
    const empty = await run('audit', '--schema', 'nothing_here')
    expect(empty.notes).toMatch(/^config_not_found: .*paidonce init/)
  })
})

describe('commands on the embedded database', () => {
  const directory = ownDirectory()
  beforeAll(() => embeddedDatabase(join(directory.path, '.paidonce')))
  afterAll(() => directory.remove())

  it('find it here without any configuration', async () => {
    const run = (...args: string[]) => paidonce(args, { cwd: directory.path })
    const create = ['orders', 'create', 'A-1', '--amount', '10', '--currency', 'EUR', '--item', 'book']
    expect((await run(...create)).status).toBe(0)
    expect((await run('orders', 'list', '--json')).json<unknown[]>()).toHaveLength(1)
    expect((await run('audit', '--json')).json()).toMatchObject({ differences: [] })
    const doctor = await run('doctor')
    expect(doctor).toMatchObject({ status: 0, out: expect.stringContaining('not a loss of power') })
  })
})
