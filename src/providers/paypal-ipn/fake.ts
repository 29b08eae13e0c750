import { type FakeServer, startFakeServer } from '../fake-server.ts'

/** A stand-in for PayPal's post-back: it confirms exactly the messages that it has sent, byte for byte. */
export interface FakeIpn extends FakeServer {
  /** Notes that this message was sent. The same bytes are handed back, to be posted to an endpoint. */
  send(body: string | Uint8Array): Buffer
}

const COMMAND = 'cmd=_notify-validate&'

/** Credentials play no part in it; being locked out shows as PayPal's page for browsers. */
export async function startFakeIpn(): Promise<FakeIpn> {
  const sent = new Set<string>()
  const server = await startFakeServer(({ method, path, headers, body }, faults) => {
    const text = body.toString('latin1')
    const known = method === 'POST' && path === '/cgi-bin/webscr' && text.startsWith(COMMAND)
    if (!known || faults.locked_out || !headers['user-agent']) return { status: 200, body: '<html></html>' }
    return { status: 200, body: sent.has(text.slice(COMMAND.length)) ? 'VERIFIED' : 'INVALID' }
  })
  return Object.assign(server, {
    send(body: string | Uint8Array) {
      const bytes = Buffer.from(body)
      sent.add(bytes.toString('latin1'))
      return bytes
    },
  })
}
