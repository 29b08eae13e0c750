import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'

/** Longest path of a local socket that every system takes, bytes. */
const PATH_MAX = 100

/** Where the owner of an embedded directory listens for commands: a socket inside it, or a named pipe on Windows. */
export function channelPath(directory: string, platform: NodeJS.Platform = process.platform): string {
  const whole = resolve(directory)
  const name = createHash('sha256').update(whole).digest('hex').slice(0, 24)
  if (platform === 'win32') return `\\\\.\\pipe\\paidonce-${name}`
  const inside = join(whole, 'commands.sock')
  const candidates = [inside, relative(process.cwd(), inside)]
  return (
    candidates.find((path) => Buffer.byteLength(path) <= PATH_MAX) ?? join(tmpdir(), `paidonce-${name}.sock`)
  )
}
