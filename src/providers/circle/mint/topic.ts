import type { Mode } from '../../../facts/event.ts'
import { Fault } from '../../../facts/fault.ts'

/** The one topic whose messages count. Anybody can publish correctly signed messages on a topic of his own. */
export interface Topic {
  readonly arn: string
  /** `sns.<region>.amazonaws.com`, the only host that is ever asked for anything. */
  readonly host: string
  /** Circle's topics are called `sandbox_...` and `prod_...` in its sample application; null for other names. */
  readonly mode: Mode | null
}

/** @throws Fault `config_invalid` unless it is the ARN of one topic */
export function readTopic(topicArn: string): Topic {
  const arn = typeof topicArn === 'string' ? topicArn.trim() : ''
  const [, region, name] =
    /^arn:aws:sns:([a-z]{2}(?:-[a-z]+){1,2}-[0-9]):[0-9]{12}:([A-Za-z0-9_-]{1,256})$/.exec(arn) ?? []
  if (region === undefined || name === undefined) {
    throw new Fault(
      'config_invalid',
      'circle-mint: topicArn must be the ARN of the topic that Circle names, for example arn:aws:sns:us-west-2:000000000000:sandbox_platform-notifications-topic.',
    )
  }
  const mode = name.startsWith('sandbox_') ? 'test' : name.startsWith('prod_') ? 'live' : null
  return { arn, host: `sns.${region}.amazonaws.com`, mode }
}
