import { Fault } from '../facts/fault.ts'
import { alertText } from './alerts-text.ts'
import type { Deliverer } from './outcome.ts'

export interface EmailOptions {
  /** Name of the SMTP server. */
  readonly host: string
  /** Default 587; 465 is TLS from the first byte. */
  readonly port?: number
  readonly user?: string
  readonly password?: string
  /** The sender's address. */
  readonly from: string
  /** The address or addresses that are told. */
  readonly to: string | readonly string[]
  /** Begins every subject. Default `[PaidOnce]`. */
  readonly subject_prefix?: string
  /** Send even where the server offers no encryption: only for a relay on this machine. Default false. */
  readonly allow_plaintext?: boolean
  /** How long the server may be silent, milliseconds. Default 20,000. */
  readonly time_limit_ms?: number
}

/**
 * Delivers alerts by SMTP, through nodemailer. A repeat after a crash has the same Message-ID, by which mailboxes drop
 * it. Throws Fault `config_invalid` for what cannot be an address or a server.
 */
export function email(options: EmailOptions): Deliverer {
  const { host, port = 587, user, password, from, subject_prefix = '[PaidOnce]' } = options
  const { time_limit_ms = 20_000, allow_plaintext = false } = options
  const to = typeof options.to === 'string' ? [options.to] : [...options.to]
  if (host.trim() === '') throw invalid('Name the SMTP server that alerts are sent through: `host`.')
  for (const address of [from, ...to]) {
    if (!/^[^\s<>,;@]+@[^\s<>,;@]+$/.test(address)) {
      throw invalid(`${JSON.stringify(address)} is no e-mail address to send alerts from or to.`)
    }
  }
  if (to.length === 0) throw invalid('Name at least one address that alerts are sent to.')
  if (user !== undefined && !password) throw invalid('The SMTP user for alerts has a blank password.')
  return async (effect) => {
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({
      host,
      port,
      secure: port === 465,
      requireTLS: !allow_plaintext,
      ...(user === undefined ? {} : { auth: { user, pass: password } }),
      connectionTimeout: time_limit_ms,
      greetingTimeout: time_limit_ms,
      socketTimeout: time_limit_ms,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    try {
      const { title, body } = alertText(effect)
      await transport.sendMail({
        from,
        to,
        subject: `${subject_prefix} ${title}`,
        text: `${body}\n\n${effect.key}\n`,
        messageId: `<${effect.key}@${from.split('@')[1]}>`,
        date: effect.created_at,
        // Replies of absent people must not come back as if somebody had read it.
        headers: { 'auto-submitted': 'auto-generated' },
      })
    } finally {
      transport.close()
    }
  }
}

function invalid(message: string): Fault {
  return new Fault('config_invalid', message)
}
