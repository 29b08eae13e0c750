import { connect, type Socket } from 'node:net'
import { type ChannelFrame, FrameReader, frameLine } from './channel-frame.ts'
import { channelPath } from './channel-path.ts'
import type { ExitStatus } from './command.ts'
import type { Output } from './output.ts'

/** Runs a command in the process that owns the directory. Null when nobody listens there. */
export async function runThere(
  directory: string,
  args: readonly string[],
  out: Output,
): Promise<ExitStatus | null> {
  const socket = await reach(channelPath(directory))
  if (!socket) return null
  return new Promise((resolve, reject) => {
    let exit: ExitStatus | null = null
    const reader = new FrameReader<ChannelFrame>((frame) => {
      if ('out' in frame) out.write(frame.out)
      else if ('note' in frame) out.note(frame.note)
      else if ('progress' in frame) out.progress(frame.progress)
      else if ('exit' in frame) exit = frame.exit
      else reject(new Error(frame.broken))
    })
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      if (!reader.take(text)) socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => {
      out.progress(null)
      if (exit !== null) resolve(exit)
      else reject(new Error('The server went away while it ran the command. Run it again.'))
    })
    socket.write(frameLine({ args, columns: out.columns }))
  })
}

function reach(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(null))
  })
}
