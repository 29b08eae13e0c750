import type { Provider } from '../../../providers/contract.ts'

/**
 * Stand-ins and sample keys are a test system's, and say so. On the stage they play the live one, since a shop with a
 * bad day is a live shop.
 */
export function asLive(provider: Provider): Provider {
  return {
    ...provider,
    secrets_mode: 'live',
    translate: (delivery, verified) => ({ ...provider.translate(delivery, verified), mode: 'live' }),
  }
}

/** Forgeries that this provider can tell from what is honest, by what it signs. */
export function forgeriesOf({ secrets, capabilities }: Provider) {
  return [
    ...(secrets.length > 0 ? (['wrong_secret'] as const) : []),
    'changed_after_signing',
    'truncated',
    ...(capabilities.signed_time ? (['too_old'] as const) : []),
  ] as const
}
