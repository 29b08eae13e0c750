import { randomBytes } from 'node:crypto'
import { Fault } from '../../facts/fault.ts'
import { parseDecimal } from '../../money/amount.ts'
import { exponentOf } from '../../money/currency.ts'
import type { SampleMessage } from '../../providers/sample-maker.ts'
import { type Register, WrongUsage } from '../command.ts'
import { providerNames, sampleMaker } from '../sample-makers.ts'
import { list } from '../table.ts'

interface SendFlags {
  readonly url?: string
  readonly secret?: string
  readonly order?: string
  readonly amount: string
  readonly currency?: string
  readonly payment?: string
  readonly live?: boolean
}

export const registerSend: Register = (program, act) => {
  const command = program
    .command('send [provider] [event]')
    .description(
      `send a correctly signed sample to any URL (${providerNames().join(', ')}; default stripe and its commonest event)`,
    )
    .option('--url <url>', 'where to (default: http://127.0.0.1:8480/webhooks/<provider>)')
    .option('--secret <secret>', 'signing secret (default: PAIDONCE_SEND_SECRET)')
    .option('--order <reference>', 'the order that it names')
    .option('--amount <amount>', 'in major units', '19.99')
    .option('--currency <code>', "ISO 4217 or token code (default: the provider's commonest)")
    .option('--payment <id>', 'payment id (default: a new one)')
    .option('--live', 'a live event; otherwise a test event')
  act<SendFlags>(command, async (context, flags, name = 'stripe', event) => {
    const maker = await sampleMaker(name)
    if (event !== undefined && !maker.events.includes(event)) {
      throw new WrongUsage(`${name} has no sample of ${event}; there are ${maker.events.join(', ')}`)
    }
    const currency = (flags.currency ?? maker.currency).toUpperCase()
    const now_ms = context.now_ms()
    const message = maker.make(
      {
        event,
        order: flags.order,
        amount_minor: readAmount(flags.amount, currency),
        currency,
        payment: flags.payment ?? maker.payment(randomBytes(8).toString('hex')),
        live: flags.live ?? false,
        at_s: Math.floor(now_ms / 1000),
      },
      secretOf(flags, !maker.unsigned),
      now_ms,
    )
    const url = flags.url ?? `http://127.0.0.1:8480/webhooks/${name}`
    const { status, text } = await post(url, message)
    context.answer({ url, status, answer: text, sent: message.body }, () =>
      list([
        ['sent', `${message.body.length} bytes to ${url}`],
        ['answered', `${status} ${text}`],
      ]),
    )
    return status >= 200 && status < 300 ? 0 : 1
  })
}

function secretOf({ secret = process.env.PAIDONCE_SEND_SECRET }: SendFlags, needed: boolean): string {
  if (secret) return secret
  if (!needed) return ''
  throw new Fault(
    'secret_missing',
    'Give the signing secret of the endpoint with --secret, or in PAIDONCE_SEND_SECRET.',
  )
}

async function post(
  to: string,
  { method, query, headers, body }: SampleMessage,
): Promise<{ status: number; text: string }> {
  try {
    const url = query === '' ? to : `${to}?${query}`
    const response = await fetch(url, {
      method,
      headers,
      ...(method === 'GET' ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    })
    return { status: response.status, text: (await response.text()).slice(0, 1_000) }
  } catch (cause) {
    const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause)
    throw new Fault(
      'not_found',
      `${to} could not be reached (${why}). Is \`paidonce serve\` running there?`,
      { cause },
    )
  }
}

function readAmount(text: string, currency: string): bigint {
  const exponent = exponentOf(currency)
  const parsed = exponent === null ? null : parseDecimal(text, exponent)
  if (parsed?.ok) return parsed.amount_minor
  throw new WrongUsage(`${JSON.stringify(text)} is no amount of ${currency}`)
}
