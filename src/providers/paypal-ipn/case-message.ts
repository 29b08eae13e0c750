import { disputeStatus } from '../../facts/dispute.ts'
import { paymentSubject } from '../paypal/paypal-object.ts'
import type { Form } from './form.ts'
import { type IpnSetup, optionalId, type Reading, requiredId, requiredTime } from './ipn-message.ts'

/** A case was opened. No money moves by that, whatever its type: a reversal is told by a message of its own. */
export function readCase(setup: IpnSetup, form: Form): Reading {
  const payment = optionalId(form, 'parent_txn_id') ?? requiredId(form, 'txn_id')
  const opened = disputeStatus(paymentSubject(setup.account, payment), {
    dispute: requiredId(form, 'case_id'),
    stage: 'inquiry',
    status: 'needs_response',
    at: requiredTime(form, 'case_creation_date'),
    reason: form.text('reason_code') ?? form.text('case_type'),
  })
  return { facts: [opened] }
}
