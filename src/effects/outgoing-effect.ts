import type { Lane } from '../facts/effect.ts'
import type { LeasedEffect } from '../store/queries/lease-effects.ts'

/** One thing to be done outside this database, as a deliverer gets it. */
export interface OutgoingEffect {
  /**
   * The same at every attempt, and never that of another effect: give it on as the idempotency key, or keep it to know
   * what was done already. A delivery may come twice: after a crash between doing and acknowledging, nobody knows.
   */
  readonly key: string
  readonly id: bigint
  readonly tenant: string
  /** What is to be done: `entitlement.changed`, `right.changed`, `receipt.due`, `exception.opened`. */
  readonly topic: string
  readonly lane: Lane
  /** The item that it concerns; `-` when it concerns no single one. */
  readonly item: string
  /** What it is about: an order by its reference, a right by its holder, a payment, an exception's subject. */
  readonly subject: { readonly kind: string; readonly key: string }
  /** The order's reference; null when it is not about an order. */
  readonly order: string | null
  /** What makes it due. */
  readonly cause: string
  /** Level effects: grows with every change of the item; ignore lower ones (`isNewer`). 0 for one-shots. */
  readonly revision: number
  /** Which life of the database the revision belongs to; a restored one counts anew under a higher epoch. */
  readonly epoch: bigint
  /** This attempt's number, from 1. */
  readonly attempt: number
  readonly created_at: Date
  readonly payload: Readonly<Record<string, unknown>>
}

/** The stable key of an effect: unique over all effects of all lives of one installation. */
export function effectKey(epoch: bigint, id: bigint): string {
  return `effect_${epoch}_${id}`
}

/** A leased row in the form that deliverers see. */
export function asOutgoing(row: LeasedEffect, epoch: bigint): OutgoingEffect {
  return {
    key: effectKey(epoch, row.id),
    id: row.id,
    tenant: row.tenant,
    topic: row.topic,
    lane: row.lane,
    item: row.item,
    subject: { kind: row.subject_kind, key: row.subject_key },
    order: row.subject_kind === 'order' ? row.subject_key : null,
    cause: row.cause,
    revision: Number(row.revision),
    epoch,
    attempt: row.attempts,
    created_at: row.created_at,
    payload: row.payload,
  }
}
