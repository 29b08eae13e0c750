/**
 * PaidOnce: payment webhooks verified, recorded once, fulfilled once.
 *
 * @example
 * import { createPaidOnce } from 'paidonce'
 * import { stripe } from 'paidonce/stripe'
 *
 * const paidonce = await createPaidOnce({
 *   mode: 'test',
 *   endpoints: { stripe: stripe({ webhookSecrets: process.env.STRIPE_WEBHOOK_SECRET! }) },
 * })
 * const response = await paidonce.fetch(request)
 */

export type { AlertOptions, AlertRoute } from './effects/alerts.ts'
export { type EmailOptions, email } from './effects/email.ts'
export { isNewer } from './effects/is-newer.ts'
export { log } from './effects/log.ts'
export {
  type Deliverer,
  type DeliveryContext,
  discard,
  giveUp,
  hold,
  type Outcome,
  retryAfter,
} from './effects/outcome.ts'
export type { OutgoingEffect } from './effects/outgoing-effect.ts'
export { route } from './effects/route.ts'
export { type SignedHttpOptions, signedHttp } from './effects/signed-http.ts'
export { type SlackOptions, slack } from './effects/slack.ts'
export type { Decision, DecisionKind } from './facts/decision.ts'
export type { Mode, Translation } from './facts/event.ts'
export type { Fact } from './facts/fact.ts'
export { Fault, type FaultCode } from './facts/fault.ts'
export type { OrderItem, OrderTerms } from './facts/order.ts'
export type { Operation, OperationStory } from './operations/operation.ts'
export type { ChargeOrder, OperationQuery, Operations, RefundOrder } from './operations/operations.ts'
export type { EndpointOptions, PaidOnceOptions } from './options.ts'
export { createPaidOnce, type HeldRight, PaidOnce, type RunningWork } from './paidonce.ts'
export type { CapabilitySheet, Delivery, Provider, Verified } from './providers/contract.ts'
export type { Answer } from './receive/answer.ts'
export type { DecisionRequest } from './receive/decisions.ts'
export type { OrderRegistration } from './receive/orders.ts'
export type { ReceiveRequest } from './receive/receiver.ts'
export type { Confirmation } from './reconcile/confirm-order.ts'
export type { PaymentReturn } from './reconcile/payment-return.ts'
export type { PaymentStart, StartedPayment } from './reconcile/payment-start.ts'
export type { ReconcileRequest, ReconciliationReport } from './reconcile/reconciler.ts'
export type { Policy, PolicyOptions } from './rules/policy.ts'
export type {
  EntitlementChanged,
  FindOrders,
  HookTransaction,
  OnEntitlement,
  OnRight,
  RightChanged,
} from './settle/hook.ts'
export type { Exception, ExceptionQuery, ExceptionStory } from './watch/exceptions.ts'
export type { WatchOptions } from './watch/watch-options.ts'
