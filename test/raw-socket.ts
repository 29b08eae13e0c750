import { connect } from 'node:net'

/** What a server answers to these bytes on a connection of its own: all that it sends until it closes or falls silent. */
export function sendRaw(
  port: number,
  parts: Iterable<string | Uint8Array>,
  options: { readonly hang_up?: boolean } = {},
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    const over = () => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(5_000, over)
    socket.on('data', (data) => {
      answer += data.toString('latin1')
      if (isWhole(answer)) over()
    })
    socket.on('error', over)
    socket.on('close', over)
    const iterator = parts[Symbol.iterator]()
    const write = () => {
      for (let part = iterator.next(); !part.done; part = iterator.next()) {
        if (socket.destroyed) return
        if (!socket.write(part.value)) {
          socket.once('drain', write)
          return
        }
      }
      if (options.hang_up) socket.end(over)
    }
    socket.on('connect', write)
  })
}

/** The status code of an answer, or null where there is none. */
export function statusOf(answer: string): number | null {
  const found = /^HTTP\/1\.1 (\d{3}) /.exec(answer)
  return found === null ? null : Number(found[1])
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /content-length: (\d+)/i.exec(answer)
  return length !== null && answer.length >= end + 4 + Number(length[1])
}
