import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { embeddedDatabase, ownDirectory, paidonce } from '../../test/cli.ts'
import { type StripeFake, startStripeFake } from '../providers/stripe/fake.ts'
import { csv } from './csv.ts'

let directory: ReturnType<typeof ownDirectory>
let fake: StripeFake
beforeEach(async () => {
  directory = ownDirectory()
  // An hour ago, so that nothing of it can be a difference in timing.
  fake = await startStripeFake({ now_ms: () => Date.now() - 3_600_000 })
  const stripe = pathToFileURL(join(import.meta.dirname, '../providers/stripe/index.ts')).href
  writeFileSync(
    join(directory.path, 'paidonce.config.ts'),
    `import { stripe } from '${stripe}'
    export default { mode: 'test', endpoints: { stripe: stripe({
      webhookSecrets: 'whsec_c2hvcC1vZi10aGUtdGVzdHM', apiKey: 'sk_test_forTestsOnly', apiUrl: '${fake.url}' }) } }`,
  )
  await embeddedDatabase(join(directory.path, '.paidonce'))
})
afterEach(async () => {
  await fake.close()
  directory.remove()
})

it('case-59 reconciles, shows what differs, and takes what a person says about it', async () => {
  const run = (...args: string[]) => paidonce(args, { cwd: directory.path })
  fake.pay({ payment: 'pi_1', amount_minor: 2_000n, order: 'A-1' })
  fake.pay({ payment: 'pi_2', amount_minor: 3_000n, order: 'A-2' })
  const first = await run('reconcile')
  expect([first.status, first.notes]).toEqual([0, ''])
  expect(first.out).toMatch(/payments +. missing_internal +. 2/)
  expect(first.out).toContain('No difference is open.')
  expect(first.progress.map(({ label }) => label)).toContain('stripe: payments')

  const file = join(directory.path, 'settlement.csv')
  writeFileSync(
    file,
    'Id,Type,Gross,Fee,Ccy\npi_1,charge,19.42,0.58,usd\npi_2,charge,31.00,0,usd\npi_1,charge,20.00,0,usd\nre_9,refund,-5.00,,usd\npo_1,payout,9,,usd\n',
  )
  const settlement = await run(
    ...[
      'reconcile',
      '--json',
      '--endpoint',
      'stripe',
      '--file',
      file,
      '--kinds',
      'charge=payments,refund=refunds',
    ],
    ...['--map', 'id=Id,kind=Type,amount=Gross,fee=Fee,currency=Ccy'],
  )
  expect(settlement.status).toBe(1)
  interface Broken {
    readonly id: string
    readonly item_id: string
    readonly class: string
    readonly state: string
  }
  const [report] = settlement.json<readonly { readonly breaks: readonly Broken[] }[]>()
  const broken = report!.breaks
  expect(broken.map((one) => [one.item_id, one.class, one.state]).sort()).toEqual([
    ['pi_1 (again)', 'duplicate_external', 'open'],
    ['pi_1', 'fee_or_fx_difference', 'explained'],
    ['pi_2', 'amount_mismatch', 'open'],
    ['re_9', 'unexplained_refund', 'open'],
  ])

  const exceptions = await run('exceptions', '--kind', 'recon_break', '--json')
  expect(exceptions.out.match(/"kind": "recon_break"/g)).toHaveLength(3)
  for (const { id, state } of broken) {
    if (state === 'open') expect((await run('breaks', 'explain', id, '--reason', 'seen')).status).toBe(0)
  }
  expect((await run('breaks', 'list')).out).toBe('Both sides agree.\n')
  expect((await run('exceptions', '--kind', 'recon_break')).out).toMatch(/Nothing waits/)
  expect((await run('breaks', 'list', '--all', '--csv')).out.split('\r\n')[0]).toBe(
    'break,state,class,kind,id,payment,ours,theirs,since,why',
  )
  expect((await run('reconcile', '--runs')).out).toMatch(/done/)
  expect((await run('audit')).out).toContain('money is conserved')
}, 120_000)

it('refuses what it cannot take', async () => {
  const run = async (...args: string[]) => (await paidonce(args, { cwd: directory.path })).status
  expect(await run('reconcile', '--from', 'yesterday')).toBe(2)
  expect(await run('reconcile', '--from', '2026-01-01T00:00:00')).toBe(2)
  expect(await run('reconcile', '--file', 'x.csv')).toBe(2)
  expect(await run('reconcile', '--endpoint', 'nowhere')).toBe(1)
  expect(await run('reconcile', '--endpoint', 'stripe', '--from', '2026-01-02', '--to', '2026-01-01')).toBe(1)
  expect(await run('breaks', 'explain', '1', '--reason', 'none')).toBe(1)
  expect(await run('breaks', 'explain', 'one', '--reason', 'none')).toBe(2)
}, 120_000)

it('writes CSV that no spreadsheet takes for a formula', () => {
  expect(csv([['a', '=1+1', 'b,"c"', -5, null]])).toBe(`a,'=1+1,"b,""c""",-5,\r\n`)
})
