import type { SampleMessage } from '../../providers/sample-maker.ts'
import type { Delivery, Player } from './cast/player.ts'

/** Older than any provider allows. */
const TOO_OLD_MS = 30 * 86_400_000

/** A delivery as it is sent now: signed, and spoilt where it is to be. */
export function messageOf(
  { line, spoilt }: Delivery,
  { secret, alter = bumpFirstDigit }: Pick<Player, 'secret' | 'alter'>,
  secret_of_endpoint: string,
  now_ms: number,
): SampleMessage {
  switch (spoilt) {
    case 'honest':
      return line(secret_of_endpoint, now_ms)
    case 'wrong_secret':
      return line(secret('5fa11edbya57ranger00000000000000'), now_ms)
    case 'changed_after_signing': {
      const message = line(secret_of_endpoint, now_ms)
      return { ...message, body: alter(message.body) }
    }
    case 'truncated': {
      const message = line(secret_of_endpoint, now_ms)
      return { ...message, body: message.body.slice(0, message.body.length >> 1) }
    }
    case 'too_old':
      return line(secret_of_endpoint, now_ms - TOO_OLD_MS)
  }
}

function bumpFirstDigit(body: string): string {
  return body.replace(/[0-9]/, (digit) => `${(Number(digit) + 1) % 10}`)
}
