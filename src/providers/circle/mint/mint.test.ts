import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventsSuite } from '../../../../test/provider-contract/events.suite.ts'
import { samplesSuite } from '../../../../test/provider-contract/samples.suite.ts'
import type { Tested } from '../../../../test/provider-contract/subject.ts'
import { ACCEPTED, isVerified, NOW_MS } from '../../../../test/provider-contract/subject.ts'
import { translateSuite } from '../../../../test/provider-contract/translate.suite.ts'
import { verifySuite } from '../../../../test/provider-contract/verify.suite.ts'
import { circleMint } from './mint.ts'
import { mintSamples, sampleMintEndpoint } from './sample.ts'
import { mintSpecimen as specimen } from './vectors.ts'

const SAMPLES = new URL('./samples/', import.meta.url)
const tested: Tested = {
  folder: 'circle/mint',
  specimen: { ...specimen, ofSamples: circleMint(sampleMintEndpoint) },
  provider: specimen.provider,
  maker: mintSamples,
  samples: readdirSync(SAMPLES).map((name) => readFileSync(new URL(name, SAMPLES))),
  secret: '',
  deliver: (body) => specimen.sign(body, '', NOW_MS),
  translate: async (body) => {
    const delivery = specimen.sign(body, '', NOW_MS)
    const verdict = await specimen.provider.verify(delivery, NOW_MS)
    return specimen.provider.translate(delivery, isVerified(verdict) ? verdict : ACCEPTED)
  },
}

describe('circle-mint', () => {
  describe('verify', () => verifySuite(tested))
  describe('translate', () => translateSuite(tested))
  describe('events', () => eventsSuite(tested))
  describe('samples', () => samplesSuite(tested))

  it('takes every sample as authentic', async () => {
    for (const body of tested.samples) {
      expect(await specimen.provider.verify(tested.deliver(body), NOW_MS)).toMatchObject({ refused: false })
    }
  })
})
