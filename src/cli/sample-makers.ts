import { readdirSync } from 'node:fs'
import type { SampleMaker } from '../providers/sample-maker.ts'
import { WrongUsage } from './command.ts'

const PROVIDERS = new URL('../providers/', import.meta.url)
/** The same file is TypeScript in the repository and JavaScript in the package. */
const ENDING = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/** The providers that samples can be made of. */
export function providerNames(): string[] {
  return readdirSync(PROVIDERS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

/** @throws WrongUsage for a name that is no provider's */
export async function sampleMaker(provider: string): Promise<SampleMaker> {
  const names = providerNames()
  if (!names.includes(provider))
    throw new WrongUsage(`there are no samples of ${provider}; there are ${names.join(', ')}`)
  const file = new URL(`${provider}/sample${ENDING}`, PROVIDERS)
  return ((await import(file.href)) as { samples: SampleMaker }).samples
}
