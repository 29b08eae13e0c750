import { createHmac } from 'node:crypto'
import { type EndpointOptions, endpointOptions } from '../../../options.ts'
import { player as circle } from './circle.ts'
import { player as circleMint } from './circle-mint.ts'
import { player as dodoPayments } from './dodo-payments.ts'
import { player as esewa } from './esewa.ts'
import { player as github } from './github.ts'
import { player as hmac } from './hmac.ts'
import { player as imePay } from './ime-pay.ts'
import { player as khalti } from './khalti.ts'
import { player as paddle } from './paddle.ts'
import { player as paypal } from './paypal.ts'
import { player as paypalIpn } from './paypal-ipn.ts'
import { type Actor, NOBODY, type Player } from './player.ts'
import { player as standardWebhooks } from './standard-webhooks.ts'
import { player as stripe } from './stripe.ts'
import { player as yolfi } from './yolfi.ts'

/** Everybody who takes part; the first one has the leading part. */
export const CAST: readonly Player[] = [
  stripe,
  paddle,
  dodoPayments,
  paypal,
  paypalIpn,
  circle,
  circleMint,
  yolfi,
  esewa,
  imePay,
  khalti,
  github,
  standardWebhooks,
  hmac,
]

/** The secret of a player's endpoint, made of the run's own. */
export function secretOf(player: Player, run_secret: string): string {
  return player.secret(createHmac('sha256', run_secret).update(player.name).digest('hex').slice(0, 32))
}

export interface Performer extends Actor {
  readonly player: Player
  readonly secret: string
}

/** Those of the cast that can come, on the stage; the others' names are told. */
export async function enterAll(
  run_secret: string,
  onAbsent: (name: string, needs: string) => void,
): Promise<readonly Performer[]> {
  const performers: Performer[] = []
  for (const player of CAST) {
    if (player.needs !== undefined && !isInstalled(player.needs)) {
      onAbsent(player.name, player.needs)
      continue
    }
    const secret = secretOf(player, run_secret)
    performers.push({ player, secret, ...(await player.enter(secret)) })
  }
  return performers
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

/** The endpoints of a demo; without performers for commands after it, which read what is stored and ask nobody. */
export function castEndpoints(
  run_secret: string,
  performers: readonly Performer[] = [],
): Readonly<Record<string, EndpointOptions>> {
  return Object.fromEntries(
    CAST.map((player) => {
      const standIn = performers.find((one) => one.player === player)?.standIn
      const given = player.provider(secretOf(player, run_secret), standIn?.url ?? NOBODY)
      return [player.name, { ...endpointOptions(given), returnTo: ({ status }) => `${SHOP}${status}` }]
    }),
  )
}

/** The shop's own page for buyers who come back; nobody listens there, and the demo's browsers do not look. */
export const SHOP = 'https://shop.example/paid/'
