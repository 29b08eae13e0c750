// How a receiver talks to the harness that forked it: says where it listens, tells what it has used, obeys `stop`.

/**
 * @param {number} port
 * @param {{ stop: () => Promise<unknown>, prepare?: (orders: { first: number, end: number }) => Promise<void> }} receiver
 */
export function attach(port, receiver) {
  if (process.send === undefined) {
    console.log(`listening on http://127.0.0.1:${port}/webhooks/stripe`)
    return
  }
  process.on('message', async ({ id, ask, ...details }) => {
    if (ask === 'prepare') await receiver.prepare?.(details.orders)
    if (ask === 'stop') await receiver.stop()
    process.send({ id, usage: usage() })
    if (ask === 'stop') process.disconnect()
  })
  process.on('disconnect', () => process.exit())
  process.send({ port })
}

function usage() {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  return {
    cpu_ms: (userCPUTime + systemCPUTime) / 1000,
    peak_mb: maxRSS / 1024,
    rss_mb: process.memoryUsage.rss() / 1024 ** 2,
  }
}
