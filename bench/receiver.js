// A receiver as a child process, so that it has a core, a heap and an event loop of its own.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

// What a receiver should run with, and all do here: Node's young space of 16 MiB is collected so often under load that
// batches in flight are copied again and again.
export const NODE_FLAGS = ['--max-semi-space-size=64']

export const SECRET = 'whsec_bench'
const START_LIMIT_MS = 60_000

/**
 * @typedef {{ cpu_ms: number, peak_mb: number, rss_mb: number }} Usage
 * @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver
 */

/**
 * @param {'plain' | 'paidonce' | 'nothing'} name file in receivers/
 * @param {{ database_url?: string | undefined, hook?: boolean, directory?: string }} options
 *   without a database URL, `paidonce` embeds PGlite in `directory`
 */
export async function startReceiver(name, { database_url, hook = false, directory = '' }) {
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    BENCH_SECRET: SECRET,
    BENCH_HOOK: hook ? 'yes' : 'no',
    BENCH_DIRECTORY: directory,
    DATABASE_URL: database_url ?? '',
    PORT: '0',
  }
  const child = fork(fileURLToPath(new URL(`./receivers/${name}.js`, import.meta.url)), {
    execArgv: NODE_FLAGS,
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const answers = new Map()
  let asked = 0

  const port = await new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`receiver ${name} did not start within ${START_LIMIT_MS / 1000} s`))
    }, START_LIMIT_MS)
    exited.then(([code]) =>
      reject(new Error(`receiver ${name} ended with status ${code}; its message is above`)),
    )
    child.once('message', (message) => {
      clearTimeout(limit)
      resolve(message.port)
    })
  })
  child.on('message', ({ id, usage }) => answers.get(id)?.(usage))

  /** @returns {Promise<Usage>} */
  function ask(question, details = {}) {
    const id = ++asked
    child.send({ ...details, id, ask: question })
    const answer = new Promise((resolve) => answers.set(id, resolve))
    const lost = exited.then(() => {
      if (question !== 'stop') throw new Error(`receiver ${name} ended in the middle of a run`)
    })
    return Promise.race([answer, lost])
  }

  return {
    name,
    port,
    usage: () => ask('usage'),
    /** Registers the terms of these orders, where the receiver knows of orders at all. */
    prepare: (orders) => ask('prepare', { orders }),
    async stop() {
      if (child.connected) await ask('stop')
      await exited
    },
  }
}
