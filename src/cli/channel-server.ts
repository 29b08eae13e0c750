import { rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { Fault } from '../facts/fault.ts'
import type { PaidOnce } from '../paidonce.ts'
import { type ChannelFrame, type ChannelRequest, FrameReader, frameLine } from './channel-frame.ts'
import { channelPath } from './channel-path.ts'
import type { Host, Run } from './command.ts'

export interface Channel {
  close(): Promise<void>
}

export interface ChannelOptions {
  /** The embedded directory that this process owns. */
  readonly directory: string
  /** The open installation that commands work on. */
  readonly paidonce: PaidOnce
  readonly now_ms: () => number
  readonly run: Run
}

/** Lets commands of this machine's user run in this process, which alone may open the directory. */
export async function openChannel(options: ChannelOptions): Promise<Channel> {
  const path = channelPath(options.directory)
  // Whoever owns the directory owns its socket; one that is there was left by a process that crashed.
  if (!path.startsWith('\\\\')) await rm(path, { force: true })
  const clients = new Set<Socket>()
  const server = createServer((socket) => {
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
    serveClient(socket, options)
  })
  await listenPrivately(server, path)
  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const client of clients) client.end()
      await closed
    },
  }
}

/** The socket is made with rights for its owner alone: no moment in which another user could connect. */
async function listenPrivately(server: Server, path: string): Promise<void> {
  const mask = process.platform === 'win32' ? null : process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
    })
  } finally {
    if (mask !== null) process.umask(mask)
  }
}

function serveClient(socket: Socket, options: ChannelOptions): void {
  const send = (frame: ChannelFrame) => {
    if (socket.writable) socket.write(frameLine(frame))
  }
  const reader = new FrameReader<unknown>((request) => {
    if (!isRequest(request)) return socket.destroy()
    options
      .run(hostFor(request, send, options), request.args)
      .then(
        (exit) => send({ exit }),
        (error: unknown) =>
          send({ broken: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      )
      .finally(() => socket.end())
  })
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    // Whatever else connects here must not take the server down with it.
    if (!reader.take(text)) socket.destroy()
  })
  // A client that went away has no use for the rest.
  socket.on('error', () => undefined)
}

function isRequest(frame: unknown): frame is ChannelRequest {
  if (typeof frame !== 'object' || frame === null) return false
  const { args, columns } = frame as Partial<ChannelRequest>
  return (
    Array.isArray(args) &&
    args.every((arg) => typeof arg === 'string') &&
    (columns === null || typeof columns === 'number')
  )
}

function hostFor(
  request: ChannelRequest,
  send: (frame: ChannelFrame) => void,
  options: ChannelOptions,
): Host {
  return {
    out: {
      write: (out) => send({ out }),
      note: (note) => send({ note }),
      progress: (progress) => send({ progress }),
      columns: request.columns,
    },
    now_ms: options.now_ms,
    open: async (_common, { own = false } = {}) => {
      if (own) throw inUse()
      return options.paidonce
    },
    configure: async () => options.paidonce.options,
    stopped: async () => {
      throw inUse()
    },
  }
}

function inUse(): Fault {
  return new Fault(
    'directory_in_use',
    'A server runs on this embedded database already, and it has one owner. Stop that one first.',
  )
}
