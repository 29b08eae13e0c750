// The ceiling: signature and JSON.parse on node:http, no database. Nothing that does more can be faster.
import { createServer } from 'node:http'
import { attach } from './lifeline.js'
import { authentic } from './signature.js'

const secret = process.env.BENCH_SECRET ?? 'whsec_bench'

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const raw = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    if (!authentic(raw, request.headers['stripe-signature'], secret)) {
      response.statusCode = 401
      response.end()
      return
    }
    JSON.parse(raw.toString())
    response.end('ok')
  })
})

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  attach(server.address().port, {
    stop: async () => {
      server.closeAllConnections()
      server.close()
    },
  })
})
