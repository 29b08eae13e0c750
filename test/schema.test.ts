import { expect, it } from 'vitest'
import { withDatabases } from './database.ts'
import { describeSchema } from './schema.ts'

withDatabases('the schema', (open) => {
  it('is the one of test/schema.sql', async () => {
    const hint = 'The schema differs. When that is meant, run: npx vitest run test/schema.test.ts --update'
    await expect(await describeSchema(await open()), hint).toMatchFileSnapshot('schema.sql')
  })
})
