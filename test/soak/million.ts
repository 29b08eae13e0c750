// npm run soak:million [deliveries, default 1000000]: half of them duplicates, on one server process. The cost per event at
// the end must lie within a fifth of that after the first ten thousand, and memory must not grow.
import { readFileSync } from 'node:fs'
import { stripeEvents } from '../../src/providers/stripe/index.ts'
import { startChild } from '../child.ts'
import { deliverAll } from '../traffic.ts'
import { openPlace, type SoakPlace } from './place.ts'

const STRETCH = 10_000
const total = Math.max(Number(process.argv[2] ?? 1_000_000), 4 * STRETCH)

/** Events of a purchase, in the order in which they are told. */
const KINDS = [
  stripeEvents.paymentIntentCreated,
  stripeEvents.chargeSucceeded,
  stripeEvents.paymentIntentSucceeded,
  stripeEvents.checkoutCompleted,
] as const

function event(number: number): string {
  const purchase = Math.floor(number / KINDS.length)
  return KINDS[number % KINDS.length]!({
    payment: `pi_m${purchase}`,
    amount_minor: 2_000n,
    order: `M-${purchase}`,
  })
}

/** A stretch of deliveries: new events, each followed by one that was sent before. */
function stretch(first: number): string[] {
  return Array.from({ length: STRETCH }, (_, index) => {
    const number = Math.floor((first + index) / 2)
    return event(index % 2 === 0 ? number : (number * 7_919) % (number + 1))
  })
}

interface Measure {
  readonly cpu_ms: number
  readonly rss_mb: number
  readonly buffers: number
}

async function measure(place: SoakPlace, pid: number): Promise<Measure> {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  const text = `select (blks_hit + blks_read)::bigint as buffers from pg_stat_database where datname = current_database()`
  const [row] = await place.database.query<{ buffers: bigint }>({ name: 'soak-buffers', text })
  return {
    cpu_ms: (Number(fields[11]) + Number(fields[12])) * 10,
    rss_mb: Number(rss?.[1]) / 1024,
    buffers: Number(row!.buffers),
  }
}

const place = await openPlace()
const child = startChild('receive', place.url)
try {
  const port = Number(await child.line())
  const stretches: Measure[] = []
  for (let sent = 0; sent < total; sent += STRETCH) {
    const purchases = STRETCH / 2 / KINDS.length
    const firstPurchase = sent / 2 / KINDS.length
    await place.register(Array.from({ length: purchases }, (_, index) => `M-${firstPurchase + index}`))
    const bodies = stretch(sent)
    const before = await measure(place, child.process.pid!)
    await deliverAll(bodies, () => [port])
    const after = await measure(place, child.process.pid!)
    stretches.push({
      cpu_ms: (after.cpu_ms - before.cpu_ms) / STRETCH,
      rss_mb: after.rss_mb,
      buffers: (after.buffers - before.buffers) / STRETCH,
    })
    const { cpu_ms, rss_mb, buffers } = stretches.at(-1)!
    console.log(
      `${sent + STRETCH}: ${cpu_ms.toFixed(3)} ms CPU and ${buffers.toFixed(1)} buffers per delivery, ${rss_mb.toFixed(0)} MB`,
    )
  }
  judge(stretches)
  const text = `select (select count(*)::int from events) as events, (select count(*)::int from payments) as payments,
    (select count(*)::int from entitlements where state = 'granted') as granted,
    (select coalesce(sum(copies), 0)::int from event_copies) as copies`
  const [counted] = await place.database.query<Record<string, number>>({ name: 'soak-count', text })
  const purchases = total / 2 / KINDS.length
  const wanted = { events: total / 2, payments: purchases, granted: purchases, copies: total / 2 }
  for (const [name, count] of Object.entries(wanted)) {
    if (counted![name] !== count) complain(`${counted![name]} ${name} instead of ${count}`)
  }
} finally {
  await child.kill()
  await place.remove()
}

/** The first stretch warms everything up, so the second is what the last ones are held against. */
function judge(stretches: readonly Measure[]): void {
  const early = stretches[1]!
  const late = stretches.slice(-3)
  const mean = (name: keyof Measure) => late.reduce((sum, entry) => sum + entry[name], 0) / late.length
  for (const name of ['cpu_ms', 'buffers'] as const) {
    if (mean(name) > early[name] * 1.2)
      complain(`${name} per delivery rose from ${early[name]} to ${mean(name)}`)
  }
  if (mean('rss_mb') > early.rss_mb * 1.5 + 50)
    complain(`memory rose from ${early.rss_mb} to ${mean('rss_mb')} MB`)
}

function complain(what: string): void {
  console.error(what)
  process.exitCode = 1
}
