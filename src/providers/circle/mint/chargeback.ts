import type { DisputeStatus } from '../../../facts/dispute.ts'
import { disputeStatus } from '../../../facts/dispute.ts'
import { listIn, textIn, utcTime } from '../../field.ts'
import { Unreadable } from '../../unreadable.ts'
import type { Reading } from '../reading.ts'
import { paymentSubject, required } from '../reading.ts'
import { moneyIn } from './money.ts'
import type { MintSetup } from './payment.ts'

const STATUSES = new Map<string, DisputeStatus>([
  ['active', 'needs_response'],
  ['pending', 'under_review'],
  ['won', 'won'],
  ['canceled', 'won'],
  ['lost', 'lost'],
  // The payment had been refunded already; that is told by itself.
  ['resolved', 'withdrawn'],
])

interface Told {
  /** When the message about it was made; null in a look-up. */
  readonly at: string | null
  readonly event: string | undefined
}

/**
 * The object `chargeback`. Its status decides; the entries of its history are not read as movements of money, since
 * which of them move any is not documented.
 */
export function readChargeback(setup: MintSetup, object: unknown, told: Told): Reading {
  const dispute = required(object, 'id')
  const subject = paymentSubject(setup, required(object, 'paymentId'))
  // Above all `closed`, which does not say for whom.
  const status = STATUSES.get(textIn(object, 'status') ?? '')
  if (status === undefined) throw new Unreadable('chargeback.status does not say what became of it')
  const history = sortedHistory(object)
  const at = history.at(-1)?.time ?? told.at
  if (at === undefined || at === null) throw new Unreadable('chargeback.history tells no time')
  const second = history.some(({ entry }) => textIn(entry, 'type') === '2nd Chargeback')
  const newest = history.filter(({ entry }) => /Chargeback$/.test(textIn(entry, 'type') ?? '')).at(-1)
  return {
    facts: [
      disputeStatus(subject, {
        dispute,
        stage: second ? 'second_chargeback' : 'chargeback',
        status,
        at,
        event: told.event,
        ...moneyIn(setup.tokens, newest?.entry, 'chargebackAmount'),
        reason: textIn(object, 'reasonCode'),
      }),
    ],
  }
}

/** Oldest first, whatever order they come in. */
function sortedHistory(object: unknown): readonly { readonly entry: unknown; readonly time: string }[] {
  return listIn(object, 'history')
    .flatMap((entry) => {
      const time = utcTime(textIn(entry, 'createDate'))
      return time === null ? [] : [{ entry, time }]
    })
    .sort((one, other) => Date.parse(one.time) - Date.parse(other.time))
}
