// wrk as the load generator: one thread in C that costs the machine a few microseconds per request.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PATH } from './load.js'

const SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url))

export function wrkVersion() {
  const { stdout } = spawnSync('wrk', ['--version'], { encoding: 'utf8' })
  return stdout?.match(/^wrk \S+/)?.[0] ?? null
}

/** @type {import('./load.js').Drive} */
export async function driveWithWrk({ port, deliveries, connections, duration_ms }) {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-load-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const file = join(folder, 'requests')
    await writeRequests(file, port, deliveries)
    return await run(file, port, connections, duration_ms)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

async function writeRequests(path, port, deliveries) {
  const file = await open(path, 'w')
  for (let i = 0; i < deliveries.length; i += 4096) {
    let text = ''
    for (const { body, signature } of deliveries.slice(i, i + 4096)) {
      const head = `POST ${PATH} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\nuser-agent: Stripe/1.0\r\n`
      const request = `${head}stripe-signature: ${signature}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      text += `${request.length}\n${request}`
    }
    await file.write(text, null, 'latin1')
  }
  await file.close()
}

function run(file, port, connections, duration_ms) {
  const options = [
    '-t',
    '1',
    '-c',
    String(connections),
    '-d',
    `${Math.ceil(duration_ms / 1000) + 1}s`,
    '--timeout',
    '20s',
    '-s',
    SCRIPT,
  ]
  const child = spawn('wrk', [...options, `http://127.0.0.1:${port}${PATH}`, '--', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let said = ''
  let stopping
  child.stderr.setEncoding('latin1').on('data', (text) => {
    said += text
    // wrk takes whole seconds only; an interrupt ends it at any time, and it reports the time it really ran.
    if (said.startsWith('started\n')) stopping ??= setTimeout(() => child.kill('SIGINT'), duration_ms)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(stopping)
      process.off('exit', kill)
      const result = said.split('\n').find((line) => line.startsWith('{'))
      if (result === undefined) reject(new Error(`wrk ended without a result: ${said.trim()}`))
      else resolve(JSON.parse(result))
    })
  })
}
