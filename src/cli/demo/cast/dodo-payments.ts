import { dodoPayments } from '../../../providers/dodo-payments/index.ts'
import { samples } from '../../../providers/dodo-payments/sample.ts'
import { signedPlayer } from './signed.ts'

export const player = signedPlayer({
  name: 'dodo-payments',
  maker: samples,
  currencies: ['USD', 'EUR'],
  secret: (seed) => `whsec_${Buffer.from(seed).toString('base64')}`,
  provider: (webhookSecrets) => dodoPayments({ webhookSecrets, mode: 'live' }),
})
