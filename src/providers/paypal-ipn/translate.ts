import type { Translation } from '../../facts/event.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { readCase } from './case-message.ts'
import { Form } from './form.ts'
import { type Envelope, type IpnSetup, isForUs, modeOf, type Reading, timeOf, typeOf } from './ipn-message.ts'
import { readPayment } from './payment-message.ts'
import { isSubscription, readSubscription } from './subscription-message.ts'

type Content = Pick<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>

/** Reads a message that PayPal has confirmed. Never throws: what cannot be read has outcome `unreadable`. */
export function translateIpn(setup: IpnSetup, body: Uint8Array): Translation {
  let envelope: Envelope = NOTHING_READ
  try {
    const form = new Form(body)
    envelope = readEnvelope(form)
    const outgoing = outgoingReason(form)
    if (outgoing !== undefined) return { ...envelope, ...without('ignored', outgoing) }
    if (!isForUs(setup, form)) {
      const account = form.text('receiver_id') ?? '(another receiver)'
      return { ...envelope, account, ...without('not_ours', 'the receiver is another account') }
    }
    return { ...envelope, ...readContent(setup, form, envelope.type) }
  } catch (error) {
    return { ...envelope, ...without('unreadable', unreadableReason(error)) }
  }
}

/** No id is documented as a message's own, so the digest of its bytes is; identical copies are one event. */
const NOTHING_READ: Envelope = {
  event_id: null,
  type: '',
  occurred_at: null,
  mode: null,
  account: null,
  api_version: null,
}

function readEnvelope(form: Form): Envelope {
  return {
    ...NOTHING_READ,
    type: typeOf(form),
    occurred_at:
      timeOf(form, 'payment_date') ??
      timeOf(form, 'subscr_date') ??
      timeOf(form, 'case_creation_date') ??
      timeOf(form, 'time_created') ??
      null,
    mode: modeOf(form),
    api_version: form.text('notify_version') ?? null,
  }
}

/** Money that we send to others. */
function outgoingReason(form: Form): string | undefined {
  return /^(?:masspay|payout)/.test(form.text('txn_type') ?? '') ? 'money that we paid out' : undefined
}

function readContent(setup: IpnSetup, form: Form, type: string): Content {
  if (type === '') throw new Unreadable('neither txn_type, case_type nor payment_status is there')
  if (setup.expects !== null && !setup.expects.includes(type))
    return without('ignored', 'the endpoint does not expect this type')
  const reading = readMessage(setup, form)
  if ('ignored' in reading) return without('ignored', reading.ignored)
  return { outcome: 'facts', reason: '', ...reading }
}

function readMessage(setup: IpnSetup, form: Form): Reading {
  const kind = form.text('txn_type')
  if (form.text('payment_status') !== undefined) return readPayment(setup, form)
  if (isSubscription(kind)) return readSubscription(setup, form, kind)
  if (kind === 'new_case' || (kind === undefined && form.text('case_type') !== undefined))
    return readCase(setup, form)
  if (kind !== undefined && /^(?:subscr|recurring)_/.test(kind))
    throw new Unreadable('txn_type is not one of subscriptions that we know')
  // A payment without its status: nobody can say what became of it.
  if (form.text('txn_id') !== undefined) throw new Unreadable('payment_status is missing')
  return { ignored: 'this type means nothing to us' }
}

function without(outcome: 'ignored' | 'not_ours' | 'unreadable', reason: string): Content {
  return { outcome, reason, facts: [] }
}
