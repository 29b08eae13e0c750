// Performs operations on the database at the URL given, at the Stripe stand-in at the other, until it is killed. Its leases
// are short, and its own brakes on requests to one account are off: here it is to run into trouble.
import { OperationWorker } from '../../src/operations/operation-worker.ts'
import { PaidOnce } from '../../src/paidonce.ts'
import { newAsk } from '../../src/providers/ask.ts'
import { stripe } from '../../src/providers/stripe/index.ts'
import { AccountGates } from '../../src/reconcile/account-gate.ts'
import { LookupWorker } from '../../src/reconcile/lookup-worker.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { TRAFFIC_SECRET } from '../traffic.ts'

const [url, apiUrl, limit, alert_after] = process.argv.slice(2)
const limit_ms = Number(limit)
const provider = stripe({ webhookSecrets: TRAFFIC_SECRET, apiKey: 'sk_test_operations', apiUrl: apiUrl! })
const database = await openPostgres({ url: url!, max: 6 })
const paidonce = new PaidOnce(
  { mode: 'test', endpoints: { stripe: provider } },
  database,
  { mode: 'test', buckets: 1, epoch: 1n },
  {},
)
const rooms = [paidonce.settler, paidonce.endpoints, 1, newAsk(fetch, Date.now), Date.now] as const
const lease_ms = 4 * limit_ms
const gates = new AccountGates({ per_second: 10_000, burst: 10_000, failures: Number.MAX_SAFE_INTEGER })
const lookups = new LookupWorker(...rooms, { lease_ms, limit_ms, gates })
const worker = new OperationWorker(
  ...rooms,
  (endpoint, request, most_ms) => lookups.askNow(endpoint, request, 'sweep', most_ms),
  { poll_ms: 50, batch: 24, lease_ms, limit_ms, alert_after_ms: Number(alert_after) },
)
// The library takes a while to load, which is not to count for the first requests.
await import('stripe')
// The worker's own pauses keep no process alive; this does, as long as whoever started it lives.
process.stdin.resume()
worker.start()
console.log('performing')
