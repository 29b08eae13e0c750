import { readFileSync } from 'node:fs'

/** The version in our package.json, which lies two folders up from here both in src/ and in dist/. */
export function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
