import { hash } from 'node:crypto'
import type { Translation } from '../facts/event.ts'
import type { Delivery, Verified } from '../providers/contract.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { type RaisedByItem, type SettleItem, settleItem } from '../settle/item.ts'
import type { EventRow, EventState } from '../store/queries/insert-events.ts'
import { wantedLookup } from '../store/queries/request-lookups.ts'

/** What an authentic delivery comes to: how its event is filed, and whether its facts are settled. */
interface Verdict {
  readonly state: EventState
  readonly reason: string
  readonly raises: readonly RaisedByItem[]
}

/** Turns an authentic delivery into something to settle. Everything authentic is stored, whatever it turns out to be. */
export function translateDelivery(
  endpoint: Endpoint,
  delivery: Delivery,
  verified: Verified,
  received_at: Date,
): SettleItem {
  const translation = endpoint.provider.translate(delivery, verified)
  const digest = hash('sha256', delivery.body, 'buffer')
  const id = translation.event_id?.trim() ? translation.event_id : null
  const verdict = judge(endpoint, translation, id)
  const event: EventRow = {
    tenant: endpoint.tenant,
    provider: endpoint.provider.provider,
    account: endpoint.provider.account,
    mode: translation.mode ?? endpoint.mode,
    event_key: id ?? `sha256:${digest.toString('hex')}`,
    key_kind: id === null ? 'digest' : 'id',
    endpoint: endpoint.name,
    type: translation.type === '' ? 'unknown' : translation.type,
    state: verdict.state,
    reason: verdict.reason,
    secret_label: verified.secret_label,
    api_version: translation.api_version,
    adapter_version: endpoint.provider.adapter_version,
    occurred_at: translation.occurred_at,
    received_at,
    digest,
    headers: storedHeaders(endpoint, delivery),
    body: delivery.body,
  }
  const facts = verdict.state === 'settled' ? translation.facts : []
  const asked = verdict.state === 'settled' ? (translation.lookups ?? []) : []
  const lookups = asked.map((request) => wantedLookup(endpoint, request, 'event', received_at))
  return settleItem({ tenant: endpoint.tenant, event, facts, lookups, raises: verdict.raises })
}

/** Files a translated message, in the order of the table in docs/architecture.md: first what can be read, then whose it is. */
export function judge(endpoint: Endpoint, translation: Translation, id: string | null): Verdict {
  const { provider } = endpoint
  if (translation.outcome === 'unreadable') {
    return raise('unreadable', translation.reason, endpoint, {
      kind: 'unreadable_event',
      cause: translation.type || 'unknown',
      severity: 'urgent',
      message: `Endpoint ${endpoint.name} received an authentic ${translation.type || 'message'} that cannot be read (${translation.reason}). Its bytes are kept: mend the mapping or upgrade, then run \`paidonce replay --state unreadable\`.`,
    })
  }
  if (id === null && provider.capabilities.event_id !== 'none') {
    return raise('unreadable', 'no event id', endpoint, {
      kind: 'event_without_id',
      cause: translation.type || 'unknown',
      severity: 'urgent',
      message: `Endpoint ${endpoint.name} received an authentic ${translation.type || 'message'} without an event id, which ${provider.provider} always sends. It is kept under the digest of its bytes and nothing was done: ask the provider what changed.`,
    })
  }
  if (translation.mode !== null && translation.mode !== endpoint.mode) return wrongMode(endpoint, translation)
  if (translation.account !== null && translation.account !== provider.account) {
    return raise('misdirected', `account ${translation.account}`, endpoint, {
      kind: 'event_misdirected',
      cause: `account ${translation.account}`,
      severity: 'warning',
      message: `Endpoint ${endpoint.name} is for account ${provider.account} and received events of account ${translation.account}. They are kept and not settled: add an endpoint for that account, or stop the sender.`,
    })
  }
  if (translation.outcome !== 'facts' && (translation.lookups ?? []).length === 0)
    return { state: 'ignored', reason: translation.reason || translation.outcome, raises: [] }
  return { state: 'settled', reason: '', raises: [] }
}

/** A test event where real money lives is harmless and stays silent; real money at a test endpoint is lost from sight. */
function wrongMode(endpoint: Endpoint, translation: Translation): Verdict {
  if (translation.mode === 'test') return { state: 'ignored', reason: 'test mode', raises: [] }
  return raise('misdirected', 'live mode', endpoint, {
    kind: 'event_misdirected',
    cause: 'live mode',
    severity: 'urgent',
    message: `Endpoint ${endpoint.name} belongs to a test installation and received live events. They are kept and not settled: point the live account at the live installation.`,
  })
}

function raise(
  state: EventState,
  reason: string,
  endpoint: Endpoint,
  raised: Omit<RaisedByItem, 'subject_kind' | 'subject_key'>,
): Verdict {
  return { state, reason, raises: [{ ...raised, subject_kind: 'endpoint', subject_key: endpoint.name }] }
}

/** The headers that translating reads, as JSON text; null where it reads none. */
export function storedHeaders(endpoint: Endpoint, delivery: Delivery): string | null {
  const names = endpoint.provider.stored_headers
  if (names.length === 0) return null
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, delivery.headers[name] ?? null])))
}
