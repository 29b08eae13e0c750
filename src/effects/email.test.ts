import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { DIGEST_TOPIC } from './alerts-text.ts'
import { email } from './email.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

interface Mail {
  readonly from: string
  readonly to: readonly string[]
  readonly data: string
}

/** As much of SMTP as a mail needs. `refuses` answers the recipient with an error of its own. */
class MailServer {
  readonly mails: Mail[] = []
  refuses = ''
  silent = false
  readonly #sockets = new Set<Socket>()
  readonly #server: Server = createServer((socket) => this.#serve(socket))

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    let mail = { from: '', to: [] as string[], data: '' }
    let receiving = false
    let rest = ''
    const say = (line: string) => socket.write(`${line}\r\n`)
    socket.on('error', () => undefined)
    socket.setEncoding('utf8')
    if (!this.silent) say('220 mail.test')
    socket.on('data', (text: string) => {
      rest += text
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (receiving) {
          if (line !== '.') mail.data += `${line}\n`
          else {
            receiving = false
            this.mails.push(mail)
            mail = { from: '', to: [], data: '' }
            say('250 taken')
          }
        } else if (/^EHLO/.test(line)) say('250 mail.test')
        else if (/^MAIL FROM/.test(line)) {
          mail.from = /<(.*?)>/.exec(line)![1]!
          say('250 ok')
        } else if (/^RCPT TO/.test(line)) {
          if (this.refuses !== '') say(this.refuses)
          else {
            mail.to.push(/<(.*?)>/.exec(line)![1]!)
            say('250 ok')
          }
        } else if (line === 'DATA') {
          receiving = true
          say('354 go on')
        } else if (line === 'STARTTLS') say('502 not here')
        else if (line === 'QUIT') {
          say('221 bye')
          socket.end()
        } else say('250 ok')
      }
    })
  }
}

function alertAbout(payload: Record<string, unknown>, topic = 'exception.opened'): OutgoingEffect {
  return {
    key: 'effect_1_5',
    id: 5n,
    tenant: 'default',
    topic,
    lane: 'alerts',
    item: '-',
    subject: { kind: 'order', key: 'A-1' },
    order: 'A-1',
    cause: 'order:A-1/underpayment/-/1',
    revision: 0,
    epoch: 1n,
    attempt: 1,
    created_at: new Date('2026-01-02T00:00:00Z'),
    payload,
  }
}

const OWING = {
  exception: '12',
  kind: 'underpayment',
  severity: 'warning',
  subject_kind: 'order',
  subject: 'A-1',
  message: 'Order A-1 asks for 20.00 and has 19.99.',
}

const addresses = { from: 'paidonce@shop.example', to: ['ada@shop.example', 'bob@shop.example'] }

describe('email', () => {
  const server = { current: new MailServer() }
  const start = async () => {
    server.current = new MailServer()
    return server.current.start()
  }
  afterEach(() => server.current.stop())
  const context = () => ({ signal: new AbortController().signal })
  const local = (port: number) => email({ host: '127.0.0.1', port, ...addresses, allow_plaintext: true })

  it('P42 says what happened and what to do next, with the same Message-ID at every attempt', async () => {
    const send = local(await start())
    await send(alertAbout(OWING), context())
    await send({ ...alertAbout(OWING), attempt: 2 }, context())
    const [first, second] = server.current.mails
    expect(first).toMatchObject(addresses)
    const { data } = first!
    expect(data).toMatch(/^Subject: \[PaidOnce\] warning: underpayment, order A-1$/m)
    expect(data).toMatch(/^Message-ID: <effect_1_5@shop\.example>$/m)
    expect(data).toMatch(/^Auto-Submitted: auto-generated$/im)
    expect(data).toContain(OWING.message)
    expect(data).toContain('Next: ask the buyer for the rest')
    expect(second!.data).toContain('Message-ID: <effect_1_5@shop.example>')
  })

  it('tells of many in one mail', async () => {
    const send = local(await start())
    const many = { exceptions: [OWING, { ...OWING, subject: 'A-2' }] }
    await send(alertAbout(many, DIGEST_TOPIC), context())
    expect(server.current.mails).toHaveLength(1)
    expect(server.current.mails[0]!.data).toMatch(/^Subject: \[PaidOnce\] 2 exceptions: 2 underpayment$/m)
  })

  it('lets no reference add a header or a recipient', async () => {
    const send = local(await start())
    const subject = 'A-1\r\nBcc: eve@evil.example\r\n\r\nhello'
    await send(alertAbout({ ...OWING, subject }), context())
    expect(server.current.mails[0]!.to).toEqual(addresses.to)
    expect(server.current.mails[0]!.data.split('\n\n')[0]).not.toMatch(/^Bcc:/m)
  })

  it('sends nothing without encryption unless that was allowed', async () => {
    const port = await start()
    const send = email({ host: '127.0.0.1', port, ...addresses, user: 'ada', password: 'secret' })
    await expect(send(alertAbout(OWING), context())).rejects.toThrow('STARTTLS')
    expect(server.current.mails).toEqual([])
  })

  it('fails when the server refuses or is silent, so that it is tried again', async () => {
    const port = await start()
    server.current.refuses = '550 no such user'
    await expect(local(port)(alertAbout(OWING), context())).rejects.toThrow('550')
    server.current.refuses = ''
    server.current.silent = true
    const impatient = email({
      host: '127.0.0.1',
      port,
      ...addresses,
      allow_plaintext: true,
      time_limit_ms: 50,
    })
    await expect(impatient(alertAbout(OWING), context())).rejects.toThrow()
    expect(server.current.mails).toEqual([])
  })

  it('refuses what is no address, no server, or a blank password', () => {
    for (const wrong of [
      { host: ' ' },
      { from: 'paidonce' },
      { to: [] },
      { to: 'ada@shop.example, eve@evil.example' },
      { to: ['ada@shop.example\r\nBcc: eve@evil.example'] },
      { user: 'ada' },
      { user: 'ada', password: '' },
    ]) {
      const options = { host: 'smtp.example', ...addresses, ...wrong }
      expect(() => email(options), JSON.stringify(wrong)).toThrow(
        expect.objectContaining({ code: 'config_invalid' }),
      )
    }
  })
})
