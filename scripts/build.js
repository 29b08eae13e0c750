// Compiles src/ to dist/ with the TypeScript compiler alone: no bundler, one output file per source file.
// Skipped when dist/ is newer than everything it is made from, so that `npm test` does not pay for it twice.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'dist', '.built')

function newest(path) {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

const inputs = ['src', 'tsconfig.json', 'tsconfig.build.json', 'package.json'].map((name) => join(root, name))
if (existsSync(stamp) && statSync(stamp).mtimeMs > Math.max(...inputs.map(newest))) process.exit(0)

// In a package installed from the registry dist/ is already there and the compiler is not.
const require = createRequire(import.meta.url)
const tsc = require.resolve('typescript/bin/tsc', { paths: [root] })
const run = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' })
if (run.status !== 0) process.exit(run.status ?? 1)
writeFileSync(stamp, '')
