import { Fault } from '../../../facts/fault.ts'
import type { Ask } from '../../ask.ts'
import { newAsk } from '../../ask.ts'
import { readSnsMessage } from './sns-message.ts'
import { readTopic } from './topic.ts'

/**
 * Confirms the subscription that you have just made at Circle, from the body of its `SubscriptionConfirmation` as the
 * endpoint stored it (verified). The address in the message is not visited: its own is built from the topic that you
 * name, so that only that topic can be confirmed.
 * @param body the stored body of the event
 * @param topicArn the topic of the endpoint
 * @throws Fault `config_invalid` when the body asks for something else, `provider_unavailable` when AWS did not confirm
 */
export async function confirmSubscription(
  body: string | Uint8Array,
  topicArn: string,
  ask: Ask = newAsk(fetch, () => 0),
): Promise<void> {
  const topic = readTopic(topicArn)
  const message = readSnsMessage(typeof body === 'string' ? Buffer.from(body) : body)
  const { TopicArn, Token } = message?.signed ?? {}
  if (message?.type !== 'SubscriptionConfirmation' || TopicArn !== topic.arn || Token === undefined) {
    throw new Fault(
      'config_invalid',
      `circle-mint: this body does not ask to confirm a subscription to ${topic.arn}.`,
    )
  }
  const query = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn, Token })
  const answer = await ask(`https://${topic.host}/?${query}`, { hosts: [topic.host], limit_ms: 10_000 })
  if (answer.status === 200) return
  throw new Fault(
    'provider_unavailable',
    `${topic.host} did not confirm the subscription (HTTP ${answer.status}). A token is good for 3 days; then subscribe anew.`,
    { retriable: answer.status >= 500 },
  )
}
