import type { Delivery } from '../providers/contract.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { type SettleItem, settleItem } from '../settle/item.ts'
import type { StoredEvent, StoredVersion } from '../store/queries/list-stored-events.ts'
import type { FiledEvent } from '../store/queries/refile-events.ts'
import { judge } from './translate-delivery.ts'

/** What another reading of a stored event comes to, or why it cannot be read. */
export type Reading =
  | { readonly items: readonly SettleItem[]; readonly filed: FiledEvent }
  | {
      /** `emptied`: retention took its bytes. `refused`: its endpoint or a new enough adapter is missing. */
      readonly not_read: 'emptied' | 'refused'
      readonly reason: string
    }

/**
 * Reads the bytes of a stored event with the present adapter, every content that came under its key. Gives one item per
 * content; their facts have the event as their witness, as when it was received.
 */
export function readAgain(
  endpoint: Endpoint | undefined,
  event: StoredEvent,
  versions: readonly StoredVersion[],
): Reading {
  const refusal = unreadableBy(endpoint, event, versions)
  if (refusal !== null || !endpoint) return { not_read: 'refused', reason: refusal ?? '' }
  const contents = [{ version: 1, body: event.body }, ...versions]
  if (contents.some(({ body }) => body === null)) {
    return { not_read: 'emptied', reason: 'its bytes were emptied by retention' }
  }
  const read = contents.map(({ version, body }) => readContent(endpoint, event, version, body!))
  return { items: read.map(({ item }) => item), filed: read[0]!.filed }
}

function unreadableBy(
  endpoint: Endpoint | undefined,
  event: StoredEvent,
  versions: readonly StoredVersion[],
): string | null {
  if (!endpoint) return `no endpoint ${event.endpoint} is configured`
  const { provider } = endpoint
  if (provider.provider !== event.provider || provider.account !== event.account) {
    return `endpoint ${event.endpoint} is ${provider.provider}/${provider.account}, and the event is of ${event.provider}/${event.account}`
  }
  const newest = Math.max(event.adapter_version, ...versions.map((version) => version.adapter_version))
  if (newest <= provider.adapter_version) return null
  return `it was read by adapter version ${newest}, and this release has version ${provider.adapter_version}`
}

function readContent(endpoint: Endpoint, event: StoredEvent, version: number, body: Uint8Array) {
  const verified = {
    refused: false,
    secret_label: event.secret_label,
    signed_at_ms: null,
    signed_id: event.key_kind === 'id' ? event.event_key : null,
  } as const
  const translation = endpoint.provider.translate(asDelivery(event, body), verified)
  const id = event.key_kind === 'id' ? event.event_key : translation.event_id?.trim() || null
  const { state, reason, raises } = judge(endpoint, translation, id)
  const filed: FiledEvent = {
    id: event.id,
    state,
    reason,
    type: translation.type === '' ? 'unknown' : translation.type,
    api_version: translation.api_version,
    occurred_at: translation.occurred_at,
    adapter_version: endpoint.provider.adapter_version,
  }
  const item = settleItem({
    tenant: event.tenant,
    source: { kind: 'event', id: event.id, version },
    facts: state === 'settled' ? translation.facts : [],
    rederive: true,
    raises,
  })
  return { item, filed }
}

function asDelivery(event: StoredEvent, body: Uint8Array): Delivery {
  const headers = Object.entries(event.headers ?? {}).filter(([, value]) => value !== null)
  return { method: 'POST', headers: Object.fromEntries(headers) as Delivery['headers'], body }
}
