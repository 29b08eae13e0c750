// npm run soak:kills [kills, default 2000]: kills a server at random under traffic, and audits after every hundred.
import { isDeepStrictEqual } from 'node:util'
import { startChild } from '../child.ts'
import { deliverAll, traffic } from '../traffic.ts'
import { auditTraffic } from '../traffic-audit.ts'
import { openPlace } from './place.ts'

const kills = Number(process.argv[2] ?? 2_000)
const place = await openPlace()
try {
  for (let done = 0; done < kills; ) {
    const sent = traffic(`kill${done}`, 400)
    await place.register(sent.orders)
    let port: number | undefined
    let calm = false
    const round = Math.min(100, kills - done)
    const killing = (async () => {
      let next = startChild('receive', place.url)
      for (let kill = 0; kill < round; kill += 1) {
        const child = next
        port = Number(await child.line())
        next = startChild('receive', place.url)
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 200))
        port = undefined
        await child.kill()
      }
      port = Number(await next.line())
      calm = true
      return next
    })()
    const ports = () => (port === undefined ? [] : [port])
    do await deliverAll(sent.bodies, ports)
    while (!calm)
    await deliverAll(sent.bodies, ports)
    await (await killing).kill()
    const { found, wanted } = await auditTraffic(place.database, sent)
    if (!isDeepStrictEqual(found, wanted)) {
      console.error('Something was lost or doubled.', { found, wanted })
      process.exitCode = 1
      break
    }
    done += round
    console.log(`${done} kills: nothing lost, nothing doubled`)
  }
} finally {
  await place.remove()
}
