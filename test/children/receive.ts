// A receiving server on the database at the URL given: says its port, then serves until it is killed. With the name of a
// transaction boundary and a number it kills itself, as `kill -9` would, the n-th time that it comes there.
import { createPaidOnce } from '../../src/paidonce.ts'
import { stripe } from '../../src/providers/stripe/index.ts'
import { serve } from '../../src/server/index.ts'
import { TRAFFIC_SECRET } from '../traffic.ts'

const [url, boundary, times] = process.argv.slice(2)
let left = Number(times ?? 0)
const paidonce = await createPaidOnce({
  mode: 'test',
  database: url!,
  migrate: false,
  endpoints: { stripe: stripe({ webhookSecrets: TRAFFIC_SECRET }) },
  effects: { 'receipt.due': () => undefined },
  limits: {
    onBoundary: (reached) => {
      if (reached === boundary && --left === 0) process.kill(process.pid, 'SIGKILL')
    },
  },
})
const { port } = await serve(paidonce, { port: 0 })
console.log(port)
