// npm run soak:operations [-- --operations N, default 1000]: so many refunds and so many charges at a provider that loses
// 30 % of its answers, is late with 10 %, answers 500 to 14 % (10 % after it did the work), while the processes that perform
// them are killed at random. Every 50th is cut off after it was sent, so that nobody can find out until the end. Then the
// provider's own books are held against ours.
import { parseArgs } from 'node:util'
import { PaidOnce } from '../../src/paidonce.ts'
import type { FakeRequest, Faults } from '../../src/providers/fake-server.ts'
import { startStripeFake } from '../../src/providers/stripe/fake.ts'
import { signStripe, stripe } from '../../src/providers/stripe/index.ts'
import { providerKey } from '../../src/rules/operation-key.ts'
import { type Child, startChild } from '../child.ts'
import {
  CHARGE_MINOR,
  holdAgainst,
  keyTold,
  NO_BOOKS,
  REFUND_MINOR,
  readBooks,
  sumsAgainst,
} from '../operation-books.ts'
import { TRAFFIC_SECRET } from '../traffic.ts'
import { openPlace } from './place.ts'

const { values } = parseArgs({ options: { operations: { type: 'string', default: '1000' } } })
const many = Number(values.operations)
const LIMIT_MS = 1_000
const ALERT_AFTER_MS = 5_000
const WORKERS = 2
/** The whole thing takes longer than this only if something never ends. */
const PATIENCE_MS = 120_000 + many * 2_500
const numbers = Array.from({ length: many }, (_, n) => n)
const isCutOff = (n: number) => n % 50 === 7
const isDeclined = (n: number) => n % 20 === 3

const began_ms = performance.now()
const befell = { lost: 0, late: 0, late_arrivals: 0, errors_after: 0, errors_before: 0, cut_off: 0, none: 0 }
let trouble = true
let cutOff = true
let broken: unknown
const sent = new Set<string>()

const place = await openPlace()
const fake = await startStripeFake({ seed: 'Soak', onRequest: befall })
fake.faults.late_ms = 2 * LIMIT_MS
const provider = stripe({ webhookSecrets: TRAFFIC_SECRET, apiKey: 'sk_test_operations', apiUrl: fake.url })
const paidonce = new PaidOnce(
  { mode: 'test', endpoints: { stripe: provider } },
  place.database,
  { mode: 'test', buckets: 1, epoch: 1n },
  {},
)
const newWorker = () => startChild('perform', place.url, fake.url, String(LIMIT_MS), String(ALERT_AFTER_MS))
const told = new Set<string>()
const workers = new Set<Child>()
let kills = 0
try {
  await plan()
  say('planned')
  const killing = Promise.all(Array.from({ length: WORKERS }, killAgainAndAgain))
  killing.catch((error: unknown) => {
    broken = error
  })
  await until('all but those that were cut off are over', async () => {
    await cutPausesShort()
    await deliverSome(0.3)
    const { open, told: raised } = await holdAgainst(place.database, NO_BOOKS)
    say(`${open.length} open, ${raised.length} with an exception, ${kills} kills`)
    const done = new Set(raised)
    return open.every((key) => isCutOff(numberOf(key)) && done.has(key))
  })
  trouble = false
  await killing
  const calm = newWorker()
  workers.add(calm)
  await calm.line()
  await until('those that were cut off rest', async () => {
    const standing = await holdAgainst(place.database, NO_BOOKS)
    return (standing.states.in_flight ?? 0) + (standing.states.planned ?? 0) === 0
  })
  const inBetween = await holdAgainst(place.database, readBooks(fake))
  const unsaid = inBetween.open.filter((key) => !inBetween.told.includes(key))
  cutOff = false
  await until('everything is over', async () => {
    await cutPausesShort()
    return (await holdAgainst(place.database, NO_BOOKS)).open.length === 0
  })
  // What is late arrives before the books are closed.
  await pause(3 * LIMIT_MS)
  await deliverSome(1)
  await until('nothing is left to tidy', async () => {
    const text = 'select count(*)::int as due from operations where due_at is not null'
    const [row] = await place.database.query<{ due: number }>({ name: '', text })
    return row!.due === 0
  })
  const books = readBooks(fake)
  const end = await holdAgainst(place.database, books)
  const wrong = [
    ...inBetween.wrong,
    ...unsaid.map((key) => `${key} was unknown without an exception`),
    ...(many >= 50 && inBetween.told.length === 0 ? ['none was ever left unknown'] : []),
    ...end.wrong,
    ...end.open.map((key) => `${key} never ended`),
    ...(await sumsAgainst(place.database, books)),
  ]
  const report = {
    refunds: many,
    charges: many,
    kills,
    befell,
    requests: await requestsSent(),
    under_trouble: inBetween.states,
    unknown_with_exception: inBetween.told.length,
    in_the_end: end.states,
    done_at_provider: {
      refunds: books.refunds.size,
      charges: books.charges.size,
      declined: books.declined.size,
    },
    total_s: Math.round((performance.now() - began_ms) / 1_000),
    wrong: wrong.length,
  }
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  for (const one of wrong.slice(0, 50)) console.error(one)
  if (wrong.length > 0) process.exitCode = 1
} finally {
  trouble = false
  await Promise.all([...workers].map((worker) => worker.kill()))
  await fake.close()
  await place.remove()
}

/** Turns the switches for this request. */
function befall(request: FakeRequest, faults: Faults): void {
  const about = decodeURIComponent(`${request.path}?${request.query}&${request.body}`)
  const [, subject] = /\b((?:pi_|owed-)\d+)\b/.exec(about) ?? []
  if (subject !== undefined && isCutOff(Number(/\d+/.exec(subject)![0]))) {
    if (request.method === 'POST') sent.add(subject)
    if (cutOff && sent.has(subject)) {
      befell.cut_off += 1
      faults.lost_answers += 1
      return
    }
  }
  const luck = trouble ? Math.random() : 1
  if (luck < 0.3) {
    befell.lost += 1
    faults.lost_answers += 1
  } else if (luck < 0.35) {
    befell.late += 1
    faults.late_answers += 1
  } else if (luck < 0.4) {
    befell.late_arrivals += 1
    faults.late_requests += 1
  } else if (luck < 0.5) {
    befell.errors_after += 1
    faults.errors_after += 1
  } else if (luck < 0.54) {
    befell.errors_before += 1
    faults.errors_before += 1
  } else befell.none += 1
}

/** Payments that are to be given back in part, orders that are to be charged; two causes ask for each at once. */
async function plan(): Promise<void> {
  for (const n of numbers) fake.pay({ payment: `pi_${n}`, amount_minor: 2_000n, order: `paid-${n}` })
  await place.register(numbers.flatMap((n) => [`paid-${n}`, `owed-${n}`]))
  await deliverSome(1)
  await eachOf(numbers, async (n) => {
    const refund = { key: `refund-${n}`, payment: `pi_${n}`, amount_minor: REFUND_MINOR }
    const charge = {
      key: `charge-${n}`,
      order: `owed-${n}`,
      endpoint: 'stripe',
      customer: 'cus_1',
      method: isDeclined(n) ? 'pm_declined' : 'pm_1',
      amount_minor: CHARGE_MINOR,
    }
    const { operations } = paidonce
    await Promise.all([operations.refund(refund), operations.refund(refund)])
    await Promise.all([operations.charge(charge), operations.charge(charge)])
  })
}

/** The next one starts while the former still runs, since a start takes a while. */
async function killAgainAndAgain(): Promise<void> {
  let next = newWorker()
  workers.add(next)
  while (trouble) {
    const child = next
    await child.line()
    next = newWorker()
    workers.add(next)
    await pause(Math.random() * 5_000)
    await child.kill()
    workers.delete(child)
    kills += 1
  }
  await next.kill()
  workers.delete(next)
}

/** Nobody waits for an hour here: what waits for its next try has it after two seconds. */
function cutPausesShort(): Promise<unknown> {
  const text = `update operations set due_at = now() where lease_token is null and state in ('planned', 'unknown')
    and due_at > now() and updated_at < now() - interval '2 seconds' and bucket = 0`
  return place.database.query({ name: '', text })
}

/** Delivers this part of what was not delivered before. Nothing is told of what is cut off. */
async function deliverSome(part: number): Promise<void> {
  const hidden = new Set(
    cutOff
      ? numbers
          .filter(isCutOff)
          .flatMap((n) => [`refund-${n}`, `charge-${n}`].map((key) => providerKey('default', key, 1)))
      : [],
  )
  const bodies = fake.webhooks().filter((body) => {
    if (told.has(body) || Math.random() > part) return false
    const key = keyTold(body)
    return key === undefined || !hidden.has(key)
  })
  await eachOf(bodies, async (text) => {
    const body = Buffer.from(text)
    const headers = signStripe(body, TRAFFIC_SECRET, Date.now())
    const { status } = await paidonce.receive({ endpoint: 'stripe', method: 'POST', headers, body })
    if (status === 200) told.add(text)
    else if (status !== 503) throw new Error(`A delivery was answered with ${status}.`)
  })
}

async function eachOf<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all]
  const runner = async () => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await run(one)
  }
  await Promise.all(Array.from({ length: 16 }, runner))
}

/** Requests for refunds and charges that were written down, by what came of them; `killed` where nobody lived to see it. */
async function requestsSent(): Promise<Record<string, number>> {
  const text = `select case outcome when '' then 'killed' else outcome end as outcome, count(*)::int as count
    from operation_requests group by 1 order by 1`
  const rows = await place.database.query<{ outcome: string; count: number }>({ name: '', text })
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]))
}

async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (const from_ms = performance.now(); !(await done()); await pause(2_000)) {
    if (broken !== undefined) throw broken
    if (performance.now() - from_ms > PATIENCE_MS) throw new Error(`It never came to this: ${what}.`)
  }
}

function numberOf(key: string): number {
  return Number(key.split('-')[1])
}

function say(what: string): void {
  process.stderr.write(`${Math.round((performance.now() - began_ms) / 1_000)} s: ${what}\n`)
}

function pause(delay_ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delay_ms))
}
