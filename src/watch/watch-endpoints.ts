import type { Endpoint } from '../providers/endpoint.ts'
import { type KnownPayments, listRecentPayments } from '../store/queries/list-recent-payments.ts'
import { deleteRefusals, listRefusals, type RefusalCount } from '../store/queries/record-refusals.ts'
import { listSecretUses } from '../store/queries/record-secret-uses.ts'
import type { Finding, Watch, Watched } from './watch.ts'
import type { WatchLimits } from './watch-options.ts'

/** So many of the newest payments say which accounts have some. */
const PAYMENTS_MAX = 10_000
/** Fewer refusals than this are nobody's business. */
const REFUSALS_MIN = 5n
/** A payment that became known so long after the last message came another way. */
const OTHERWISE_MS = 3_600_000
const DAY_MS = 86_400_000

/** Endpoints that no longer hear what they should. */
export const watchEndpoints: Watch = {
  name: 'endpoints',
  kinds: ['endpoint_silent', 'endpoint_refusing'],
  look: async (watched) => {
    const { tx, bucket, endpoints, now_ms, limits } = watched
    const heard = await lastHeard(watched)
    const refused = await stillRefused(watched, heard)
    const payments = await listRecentPayments(tx, bucket, PAYMENTS_MAX)
    return endpoints.flatMap((endpoint) => {
      const last_ms = heard.get(keyOf(endpoint.tenant, endpoint.name)) ?? null
      const known = payments.find(
        ({ tenant, namespace, account }) =>
          tenant === endpoint.tenant &&
          namespace === endpoint.provider.namespace &&
          account === endpoint.provider.account,
      )
      const count = refused.find(
        (one) => keyOf(one.tenant, one.endpoint) === keyOf(endpoint.tenant, endpoint.name),
      )
      return [
        ...(known ? silent(endpoint, last_ms, known, now_ms, limits) : []),
        ...(count ? refusing(endpoint, count, now_ms, limits) : []),
      ]
    })
  },
}

/** When each endpoint last believed a message, Unix milliseconds. */
async function lastHeard({ tx, bucket }: Watched): Promise<Map<string, number>> {
  const last = new Map<string, number>()
  for (const { tenant, endpoint, last_used_at } of await listSecretUses(tx, bucket)) {
    const key = keyOf(tenant, endpoint)
    last.set(key, Math.max(last.get(key) ?? 0, last_used_at.getTime()))
  }
  return last
}

/** What was refused since; counts from before the last authentic message, or older than a day, begin anew. */
async function stillRefused(
  { tx, bucket, now_ms }: Watched,
  heard: ReadonlyMap<string, number>,
): Promise<readonly RefusalCount[]> {
  const counts = await listRefusals(tx, bucket)
  const over = counts.filter(
    ({ tenant, endpoint, first_refused_at, last_refused_at }) =>
      (heard.get(keyOf(tenant, endpoint)) ?? 0) >= first_refused_at.getTime() ||
      now_ms - last_refused_at.getTime() > DAY_MS,
  )
  if (over.length > 0) await deleteRefusals(tx, bucket, over)
  return counts.filter((count) => !over.includes(count))
}

function silent(
  endpoint: Endpoint,
  last_ms: number | null,
  known: KnownPayments,
  now_ms: number,
  limits: WatchLimits,
): Finding[] {
  const after_ms = limits.silentAfter_ms(endpoint.name)
  // What never proves a message is never heard: its payments come by look-ups.
  if (after_ms === null || endpoint.provider.capabilities.proof === 'none') return []
  const since_ms = last_ms ?? known.first_at.getTime()
  if (now_ms - since_ms < after_ms) return []
  const otherwise = last_ms === null || known.last_at.getTime() > last_ms + OTHERWISE_MS
  const since =
    last_ms === null
      ? 'has never had an authentic message'
      : `has had no authentic message since ${iso(last_ms)}`
  const but = otherwise
    ? `although payments became known otherwise, the last at ${iso(known.last_at.getTime())}`
    : 'although its account has payments'
  return [
    {
      ...subjectOf(endpoint),
      kind: 'endpoint_silent',
      severity: otherwise ? 'urgent' : 'warning',
      message: `Endpoint ${endpoint.name} ${since}, ${but}. Look in the dashboard of ${endpoint.provider.provider} whether the webhook is still there, enabled and sent to this address; if this silence is normal, raise \`watches.silent_after_hours\`.`,
    },
  ]
}

function refusing(endpoint: Endpoint, count: RefusalCount, now_ms: number, limits: WatchLimits): Finding[] {
  const { first_refused_at, refusals } = count
  if (refusals < REFUSALS_MIN || now_ms - first_refused_at.getTime() < limits.refusing_after_ms) return []
  return [
    {
      ...subjectOf(endpoint),
      kind: 'endpoint_refusing',
      severity: 'urgent',
      message: `Endpoint ${endpoint.name} has refused every signed delivery since ${iso(first_refused_at.getTime())}, ${refusals} so far. Compare its secret with the dashboard of ${endpoint.provider.provider} and this machine's clock with the time; what was refused is to be sent again from there.`,
    },
  ]
}

function subjectOf({ tenant, name }: Endpoint) {
  return { tenant, subject_kind: 'endpoint', subject_id: 0n, subject_key: name, cause: '-' } as const
}

function keyOf(tenant: string, endpoint: string): string {
  return `${tenant}\n${endpoint}`
}

function iso(at_ms: number): string {
  return new Date(at_ms).toISOString()
}
