import { circleMint, mintSamples } from '../../../providers/circle/index.ts'
import { sampleMintEndpoint } from '../../../providers/circle/mint/sample.ts'
import { asLive } from './costume.ts'
import { signedPlayer } from './signed.ts'

export const player = signedPlayer({
  name: 'circle-mint',
  maker: mintSamples,
  currencies: ['USD', 'EUR'],
  secret: () => '',
  provider: () => asLive(circleMint({ ...sampleMintEndpoint, mode: 'test' })),
})
