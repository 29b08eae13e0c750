import { formatMinor } from '../money/format.ts'
import { type DisputeToAnswer, findDisputesToAnswer } from '../store/queries/find-disputes-to-answer.ts'
import type { Finding, Watch } from './watch.ts'

/** Disputes whose deadline is near and that still wait for our answer. */
export const watchDisputes: Watch = {
  name: 'disputes',
  kinds: ['dispute_deadline'],
  look: async ({ tx, bucket, now_ms, limits }) => {
    const until = new Date(now_ms + limits.dispute_ms)
    return (await findDisputesToAnswer(tx, bucket, new Date(now_ms), until)).map(nearDeadline)
  },
}

function nearDeadline(dispute: DisputeToAnswer): Finding {
  const { tenant, payment_id, namespace, account, provider_payment_id } = dispute
  const over =
    dispute.amount_minor === null || dispute.currency === null
      ? ''
      : ` over ${formatMinor(BigInt(dispute.amount_minor), dispute.currency)}`
  return {
    tenant,
    subject_kind: 'payment',
    subject_id: payment_id,
    subject_key: `${namespace}/${account}/${provider_payment_id}`,
    kind: 'dispute_deadline',
    cause: `${dispute.provider_dispute_id}/${dispute.stage}`,
    severity: 'urgent',
    message: `Dispute ${dispute.provider_dispute_id}${over} waits for an answer until ${dispute.respond_by.toISOString()}; without one it is lost. Answer it in the provider's dashboard, or accept it there.`,
  }
}
