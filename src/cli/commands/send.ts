import { randomBytes } from 'node:crypto'
import { Fault } from '../../facts/fault.ts'
import { parseDecimal } from '../../money/amount.ts'
import { exponentOf } from '../../money/currency.ts'
import { type Register, WrongUsage } from '../command.ts'
import { SAMPLES, type SampleMessage } from '../sample-message.ts'
import { list } from '../table.ts'

interface SendFlags {
  readonly url: string
  readonly secret?: string
  readonly type?: string
  readonly order?: string
  readonly amount: string
  readonly currency: string
  readonly payment?: string
  readonly live?: boolean
}

export const registerSend: Register = (program, act) => {
  const command = program
    .command('send [provider]')
    .description(`send a signed sample to any URL (${Object.keys(SAMPLES).join(', ')}; default stripe)`)
    .option('--url <url>', 'where to', 'http://127.0.0.1:8480/webhooks/stripe')
    .option('--secret <secret>', 'signing secret (default: PAIDONCE_SEND_SECRET)')
    .option('--type <type>', 'event type, such as charge.succeeded or refund.created')
    .option('--order <reference>', 'the order that it names')
    .option('--amount <amount>', 'in major units', '19.99')
    .option('--currency <code>', 'ISO 4217 code', 'USD')
    .option('--payment <id>', 'payment id (default: a new one)')
    .option('--live', 'a live event; otherwise a test event')
  act<SendFlags>(command, async (context, flags, name = 'stripe') => {
    const sample = SAMPLES[name]
    if (!sample) {
      throw new WrongUsage(`there are no samples of ${name}; there are ${Object.keys(SAMPLES).join(', ')}`)
    }
    const secret = flags.secret ?? process.env.PAIDONCE_SEND_SECRET
    if (!secret) {
      throw new Fault(
        'secret_missing',
        'Give the signing secret of the endpoint with --secret, or in PAIDONCE_SEND_SECRET.',
      )
    }
    const message = sample(
      {
        type: flags.type,
        order: flags.order,
        amount_minor: readAmount(flags.amount, flags.currency.toUpperCase()),
        currency: flags.currency.toUpperCase(),
        payment: flags.payment ?? `pi_${randomBytes(8).toString('hex')}`,
        live: flags.live ?? false,
      },
      secret,
      context.now_ms(),
    )
    const { status, text } = await post(flags.url, message)
    context.answer({ url: flags.url, status, answer: text, sent: message.body }, () =>
      list([
        ['sent', `${message.body.length} bytes to ${flags.url}`],
        ['answered', `${status} ${text}`],
      ]),
    )
    return status >= 200 && status < 300 ? 0 : 1
  })
}

async function post(
  url: string,
  { headers, body }: SampleMessage,
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(30_000) })
    return { status: response.status, text: (await response.text()).slice(0, 1_000) }
  } catch (cause) {
    const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause)
    throw new Fault(
      'not_found',
      `${url} could not be reached (${why}). Is \`paidonce serve\` running there?`,
      {
        cause,
      },
    )
  }
}

function readAmount(text: string, currency: string): bigint {
  const exponent = exponentOf(currency)
  const parsed = exponent === null ? null : parseDecimal(text, exponent)
  if (parsed?.ok) return parsed.amount_minor
  throw new WrongUsage(`${JSON.stringify(text)} is no amount of ${currency}`)
}
