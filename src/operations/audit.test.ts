import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { audit } from '../audit/audit.ts'

withDatabases('the audit of operations', (database_of) => {
  it('P44 finds an operation that contradicts itself, or that nobody will ever look at', async () => {
    const database = await database_of()
    const insert = (key: string, state: string, due_at: string) =>
      database.query({
        name: '',
        text: `
          insert into operations (bucket, created_at, updated_at, due_at, params_digest, tenant, operation_key, kind, state,
            endpoint, namespace, account, provider_payment_id, currency, amount_minor, params)
          values (0, now(), now(), ${due_at}, '\\x00', 'default', '${key}', 'refund', '${state}', 'stripe', 'stripe',
            'default', 'pi_1', 'USD', 1, '{}')`,
      })
    await insert('fine', 'planned', 'now()')
    await insert('done', 'succeeded', 'null')
    await insert('lost', 'planned', 'null')
    await insert('odd', 'unknown', 'now()')
    const { differences, checked } = await audit(database)
    expect(differences.map(({ row, stored }) => [row, stored])).toEqual([
      ['done', 'succeeded without what the provider made'],
      ['lost', 'planned and nobody is asked for it'],
      ['odd', 'unknown without a request'],
    ])
    expect(checked).toMatchObject({ operations: 4 })
  })
})
