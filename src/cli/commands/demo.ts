import { resolve } from 'node:path'
import { type Register, wholeNumber } from '../command.ts'
import { DIRECTORY } from '../configuration.ts'
import { runDemo } from '../demo/demo.ts'
import { makeRoom } from '../demo/place.ts'
import { MUST_BE_ZERO } from '../demo/review.ts'
import { reviewInWords } from '../demo/words.ts'
import { openChannelOf } from './serve.ts'

interface DemoFlags {
  readonly once?: boolean
  readonly orders: number
  readonly seed: number
  readonly port?: number
  readonly directory?: string
  readonly database?: string
  readonly schema?: string
  readonly json?: boolean
}

export const registerDemo: Register = (program, act) => {
  const command = program
    .command('demo')
    .description(
      'a shop on a bad day, with every provider: duplicates, forgeries, refunds, disputes, lost answers, a killed worker; then a summary',
    )
    .option('--once', 'exit after the summary instead of serving on')
    .option('--orders <n>', 'how many orders', wholeNumber(1), 200)
    .option('--seed <n>', 'the same seed gives the same traffic', wholeNumber(0), 1)
    .option('--port <n>', 'port of the receiver (default 8480; any free one with --once)', wholeNumber(0))
  act<DemoFlags>(command, async (context, flags) => {
    const { once = false, orders, seed, json = false } = flags
    const place = await makeRoom(
      resolve(flags.directory ?? DIRECTORY),
      flags.database ?? null,
      flags.schema ?? 'paidonce',
      new Date(context.now_ms()),
    )
    const note = (text: string) => {
      if (!json) context.out.note(text)
    }
    note('A fresh demo: whatever an earlier demo left here is gone.\n')
    const demo = await runDemo({
      place,
      orders,
      seed,
      port: flags.port ?? (once ? 0 : 8480),
      now_ms: context.now_ms,
      onProgress: (step) => context.progress(step),
      note,
    })
    context.answer(demo.review, () => reviewInWords(demo.review))
    if (!once) {
      const channel = await openChannelOf(context, demo.paidonce)
      note(invitation(demo.port))
      await context.stopped()
      await channel?.close()
    }
    await demo.close()
    return MUST_BE_ZERO.every((name) => demo.review[name] === 0) ? 0 : 1
  })
}

function invitation(port: number): string {
  return `
It goes on serving on http://127.0.0.1:${port}, with an endpoint for each provider (/webhooks/stripe) and stand-ins that
answer for those that are asked. Look around in another terminal:
  npx paidonce orders list
  npx paidonce orders show D-shop-1     paid through Stripe, told four times
  npx paidonce orders show D-shop-17    paid through PayPal, found by asking
  npx paidonce orders show D-shop-22    paid at a wallet, from the start to the return
  npx paidonce exceptions
  npx paidonce events list --state ignored
  npx paidonce audit
Stop with Ctrl-C.
`
}
