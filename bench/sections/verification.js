// How long it takes to tell an authentic delivery, beside the provider's own library: in this process, without HTTP.
import { median, round } from '../figures.js'
import { openContests } from '../verifiers.js'

const ROUNDS = 25
/** One side of one pair runs for about so long, milliseconds. */
const STRETCH_MS = 40
const WARM_UP_MS = 300
const AT_S = 1_760_000_000

/**
 * Alternating pairs: ours, theirs, ours, theirs; the ratio is the median of the pairs' ratios, theirs by ours, so that
 * above 1 ours is the faster one.
 * @param {(text: string) => void} progress
 */
export async function measureVerification(progress, { rounds = ROUNDS, stretch_ms = STRETCH_MS } = {}) {
  const { contests, close } = await openContests()
  try {
    const found = {}
    for (const contest of contests) {
      found[contest.name] = await measureOne(contest, rounds, stretch_ms)
      const { ours_us, sdk_us, ratio } = found[contest.name]
      progress(`verification: ${contest.name} ${ours_us} us, ${contest.beside} ${sdk_us} us, ${ratio} x`)
    }
    return found
  } finally {
    await close()
  }
}

async function measureOne(contest, rounds, stretch_ms) {
  const message = messageOf(contest)
  const ours = oursOf(contest)
  await checkBoth(contest, ours, message)
  const sides = [ours, contest.theirs]
  const counts = []
  for (const side of sides) counts.push(await countFor(side, messageOf(contest), stretch_ms))
  const pairs = []
  for (let number = 0; number < rounds; number += 1) {
    // Signed anew, since some libraries let a signature grow no older than five seconds.
    const fresh = messageOf(contest)
    const first = number % 2
    const took = []
    for (const place of [first, 1 - first]) took[place] = await time(sides[place], fresh, counts[place])
    pairs.push(took)
  }
  return {
    ours_us: round(median(pairs.map(([us]) => us))),
    sdk_us: round(median(pairs.map(([, us]) => us))),
    ratio: round(median(pairs.map(([ours_us, sdk_us]) => sdk_us / ours_us))),
    beside: contest.beside,
  }
}

function messageOf({ maker, secret }) {
  const wish = {
    payment: maker.payment('bench1'),
    amount_minor: 1_999n,
    currency: maker.currency,
    order: 'A-1',
    live: true,
    at_s: AT_S,
  }
  const { method, headers, body, query } = maker.make(
    { ...wish, event: maker.steps.paid.at(-1) },
    secret,
    Date.now(),
  )
  return { method, headers, body: Buffer.from(body), text: body, query }
}

function oursOf({ provider }) {
  return (message) => provider.verify(message, Date.now())
}

/** A race between two of whom one accepts anything would say nothing. */
async function checkBoth({ name, theirs }, ours, message) {
  if ((await ours(message)).refused !== false) throw new Error(`${name}: ours refuses what is authentic`)
  if (!(await accepts(theirs, message))) throw new Error(`${name}: theirs refuses what is authentic`)
  const forged = forgedOf(message)
  if ((await ours(forged)).refused === false) throw new Error(`${name}: ours accepts a forgery`)
  if (await accepts(theirs, forged)) throw new Error(`${name}: theirs accepts a forgery`)
}

async function accepts(check, message) {
  try {
    return (await check(message)) !== false
  } catch {
    return false
  }
}

/** With another first digit in the body, or in what the query's data say. */
function forgedOf(message) {
  const bump = (text) => text.replace(/[0-9]/, (digit) => `${(Number(digit) + 1) % 10}`)
  if (message.query === '') {
    const text = bump(message.text)
    return { ...message, text, body: Buffer.from(text) }
  }
  const data = Buffer.from(new URLSearchParams(message.query).get('data') ?? '', 'base64').toString('utf8')
  return { ...message, query: `data=${encodeURIComponent(Buffer.from(bump(data)).toString('base64'))}` }
}

/** How many go into one stretch, found while the compiler warms up. */
async function countFor(check, message, stretch_ms) {
  const began_ms = performance.now()
  let done = 0
  while (performance.now() - began_ms < WARM_UP_MS) {
    await time(check, message, 100)
    done += 100
  }
  return Math.max(100, Math.round((done * stretch_ms) / (performance.now() - began_ms)))
}

/** CPU microseconds of this process for each, so that whatever else runs on the machine counts on neither side. */
async function time(check, message, count) {
  const before = process.cpuUsage()
  for (let number = 0; number < count; number += 1) {
    const verdict = check(message)
    if (verdict instanceof Promise) await verdict
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}
