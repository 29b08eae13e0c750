import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ownDirectory, paidonce } from '../../test/cli.ts'
import { withPostgres } from '../../test/database.ts'
import { SHOP_SECRET } from '../../test/stripe-shop.ts'
import { startStripeFake } from '../providers/stripe/fake.ts'

interface Shown {
  readonly state: string
  readonly amount_minor: string
  readonly provider_id: string | null
  readonly requests: readonly object[]
  readonly notes: readonly { readonly actor: string; readonly words: string }[]
}

withPostgres('charges and refunds by command', (database_of, url) => {
  const directory = ownDirectory()
  afterAll(() => directory.remove())

  it('asks, shows and resolves', async () => {
    await database_of()
    const fake = await startStripeFake({ seed: 'Cli' })
    try {
      writeFileSync(
        join(directory.path, 'paidonce.config.ts'),
        `import { stripe } from 'paidonce/stripe'
        export default {
          mode: 'test' as const,
          database: ${JSON.stringify(url())},
          endpoints: { stripe: stripe({ webhookSecrets: '${SHOP_SECRET}', apiKey: 'sk_test_cli', apiUrl: '${fake.url}' }) },
        }`,
      )
      const run = (...args: string[]) => paidonce(args, { cwd: directory.path })
      const order = ['--amount', '20.00', '--currency', 'USD', '--item', 'licence']
      expect((await run('orders', 'create', 'A-1', ...order)).status).toBe(0)
      expect((await run('orders', 'create', 'A-2', ...order)).status).toBe(0)
      fake.pay({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' })
      expect((await run('lookup', 'stripe', 'payment_intent', 'pi_1')).status).toBe(0)

      const part = ['refunds', 'create', 'pi_1', '--key', 'r1', '--amount', '5.00', '--currency', 'usd']
      const refunded = await run(...part)
      expect(refunded).toMatchObject({ status: 0, out: expect.stringContaining('$5.00') })
      const again = await run(...part, '--json')
      expect(again.json<Shown>()).toMatchObject({ state: 'succeeded', amount_minor: '500' })
      expect(
        (await run('refunds', 'create', 'pi_1', '--key', 'r1', '--amount', '6', '--currency', 'USD')).notes,
      ).toMatch(/^operation_conflict: /)
      expect(
        (await run('refunds', 'create', 'pi_1', '--key', 'r2', '--amount', '15.01', '--currency', 'USD'))
          .notes,
      ).toMatch(/^operation_refused: /)

      const charge = [
        'charges',
        'create',
        'A-2',
        '--key',
        'c1',
        '--endpoint',
        'stripe',
        '--customer',
        'cus_1',
      ]
      expect((await run(...charge, '--later')).status).toBe(0)
      fake.faults.locked_out = true
      expect((await run('operations', 'retry', 'c1', '--reason', 'now', '--actor', 'ada')).status).toBe(0)
      expect((await run(...charge)).status).toBe(1)
      fake.faults.locked_out = false
      const abandoned = await run('operations', 'abandon', 'c1', '--reason', 'paid in cash', '--actor', 'ada')
      expect(abandoned).toMatchObject({ status: 0, out: expect.stringContaining('abandoned') })
      const shown = (await run('operations', 'show', 'c1', '--json')).json<Shown>()
      expect(shown.notes).toMatchObject([{ words: 'now' }, { actor: 'ada', words: 'paid in cash' }])

      expect((await run('operations', 'list')).out).toMatch(/r1.*c1|c1[\s\S]*r1/)
      expect(
        (await run('operations', 'list', '--state', 'succeeded', '--json')).json<object[]>(),
      ).toHaveLength(1)
      expect((await run('operations', 'show', 'r1')).out).toContain('po_')
      for (const wrong of [
        ['operations', 'list', '--state', 'lost'],
        ['operations', 'list', '--kind', 'gift'],
        ['operations', 'resolve', 'r1', '--reason', 'x'],
        ['refunds', 'create', 'pi_1', '--key', 'r3', '--amount', '5'],
        ['refunds', 'create', 'pi_1', '--key', 'r3', '--amount', '5.001', '--currency', 'USD'],
        ['refunds', 'create', 'pi_1'],
      ]) {
        expect([wrong, (await run(...wrong)).status]).toEqual([wrong, 2])
      }
      const late = ['operations', 'resolve', 'r1', '--failed', '--reason', 'x', '--actor', 'ada']
      expect((await run(...late)).notes).toMatch(/^operation_refused: /)
      expect((await run('operations', 'show', 'nothing')).notes).toMatch(/^not_found: /)
      expect((await run('audit')).status).toBe(0)
    } finally {
      await fake.close()
    }
  })
})
