import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Translation } from '../../src/facts/event.ts'
import type { Delivery, Provider, Verdict, Verified } from '../../src/providers/contract.ts'
import type { SampleMaker } from '../../src/providers/sample-maker.ts'
import type { Specimen } from '../../src/providers/specimen.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..')
export const PROVIDERS = join(ROOT, 'src/providers')
export const DOCS = join(ROOT, 'docs')

export const NOW_MS = 1_760_000_500_000

/** One provider under test. */
export interface Tested {
  readonly folder: string
  readonly specimen: Specimen
  readonly provider: Provider
  readonly maker: SampleMaker
  readonly samples: readonly Buffer[]
  /** The first secret; empty where there is none. */
  readonly secret: string
  /** The body as it would arrive now, signed where anything is signed. */
  deliver(body: Uint8Array): Delivery
  /** What comes of a body that arrives: as authentic where the provider is asked first or nothing proves it. */
  translate(body: Uint8Array): Promise<Translation>
}

export function providerFolders(): readonly string[] {
  return readdirSync(PROVIDERS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
}

export function samplesOf(folder: string): readonly Buffer[] {
  const samples = join(PROVIDERS, folder, 'samples')
  if (!existsSync(samples)) return []
  return readdirSync(samples)
    .sort()
    .map((name) => readFileSync(join(samples, name)))
}

/** @throws when the folder lacks its specimen, its sample maker or its samples */
export async function loadTested(folder: string): Promise<Tested> {
  const { specimen } = (await import(join(PROVIDERS, folder, 'vectors.ts'))) as { specimen: Specimen }
  const { samples: maker } = (await import(join(PROVIDERS, folder, 'sample.ts'))) as { samples: SampleMaker }
  const samples = samplesOf(folder)
  if (specimen === undefined || maker === undefined || samples.length === 0) {
    throw new Error(`${folder}: vectors.ts must export specimen, sample.ts samples, and samples/ hold some`)
  }
  const secret = specimen.secrets[0]?.secret ?? ''
  const deliver = (body: Uint8Array) => specimen.sign(body, secret, NOW_MS)
  return {
    folder,
    specimen,
    provider: specimen.provider,
    maker,
    samples,
    secret,
    deliver,
    translate: async (body) => {
      const delivery = deliver(body)
      const verdict = await specimen.provider.verify(delivery, NOW_MS)
      return specimen.provider.translate(delivery, isVerified(verdict) ? verdict : ACCEPTED)
    },
  }
}

/** What stands for a proof that came from elsewhere. */
export const ACCEPTED: Verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null }

export function isVerified(verdict: Verdict): verdict is Verified {
  return !verdict.refused && !('unconfirmed' in verdict)
}
