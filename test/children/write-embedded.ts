// Commits rows to the embedded database in the directory given, saying each number after its commit, until it is killed.
import { openPglite } from '../../src/store/pglite.ts'

const [directory] = process.argv.slice(2)
const db = await openPglite({ directory: directory! })
await db.script('create table if not exists written (id int)')
const insert = { name: 'insert-written', text: 'insert into written values ($1)' }
for (let id = 1; ; id++) {
  const transaction = await db.begin()
  await transaction.query(insert, [id])
  await transaction.query(insert, [-id])
  await transaction.commit()
  console.log(id)
}
