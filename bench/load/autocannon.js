// autocannon as the load generator, where wrk is not installed. It needs about as much CPU per request as a fast
// receiver does, which on two cores makes the faster of two receivers look slower than it is.
import autocannon from 'autocannon'
import { PATH } from './load.js'

/** @type {import('./load.js').Drive} */
export function driveWithAutocannon({ port, deliveries, connections, duration_ms }) {
  let sent = 0
  const setupRequest = (request) => {
    const { body, signature } = deliveries[sent++ % deliveries.length]
    return {
      ...request,
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Stripe/1.0',
        'stripe-signature': signature,
      },
    }
  }
  const options = {
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: 3600,
    timeout: 20,
    sampleInt: 100,
    requests: [{ method: 'POST', path: PATH, setupRequest }],
  }
  return new Promise((resolve, reject) => {
    let started_ms = performance.now()
    const run = autocannon(options, (error, result) => {
      if (error) return reject(error)
      resolve({
        sent,
        answered: result['2xx'] + result.non2xx,
        not_ok: result.non2xx,
        lost: result.errors + result.timeouts,
        duration_ms: performance.now() - started_ms,
        p50_ms: result.latency.p50,
        p99_ms: result.latency.p99,
        max_ms: result.latency.max,
      })
    })
    run.on('start', () => {
      started_ms = performance.now()
      setTimeout(() => run.stop(), duration_ms)
    })
  })
}
