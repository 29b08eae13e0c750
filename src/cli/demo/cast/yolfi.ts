import { yolfi } from '../../../providers/yolfi/index.ts'
import { samples } from '../../../providers/yolfi/sample.ts'
import { signedPlayer } from './signed.ts'

export const player = signedPlayer({
  name: 'yolfi',
  maker: samples,
  currencies: ['EUR', 'USD'],
  secret: (seed) => seed,
  provider: (webhookSecrets) => yolfi({ webhookSecrets }),
})
