import { openPostgres } from '../../store/postgres.ts'
import { makeWorker, type WorkerTask } from './mortal-worker.ts'

/** The demo's effects worker as a process of its own: it lives until its input ends, or until it is killed. */
const { url, schema, ...task } = JSON.parse(process.env.PAIDONCE_DEMO_WORKER ?? '{}') as WorkerTask & {
  url: string
  schema: string
}
const database = await openPostgres({ url, schema, max: 4, name: 'paidonce-demo-worker' })
const worker = makeWorker(database, task)
await worker.start()
process.stdout.write('ready\n')
process.stdin.resume()
process.stdin.once('end', async () => {
  await worker.stop()
  await database.close()
})
