// Migrates the database at the URL given, when told to, and says what was applied.
import { migrate } from '../../src/store/migrate.ts'
import { openPostgres } from '../../src/store/postgres.ts'

const [url] = process.argv.slice(2)
const db = await openPostgres({ url: url!, max: 1 })
process.stdin.once('data', async () => {
  const { applied } = await migrate(db, { mode: 'test', now: new Date('2026-01-01T00:00:00Z') })
  console.log(JSON.stringify(applied))
  await db.close()
  process.stdin.destroy()
})
console.log('ready')
