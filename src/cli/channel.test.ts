import { once } from 'node:events'
import { statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Child, startChild } from '../../test/child.ts'
import { embeddedDatabase, ownDirectory, paidonce } from '../../test/cli.ts'
import { FrameReader } from './channel-frame.ts'
import { channelPath } from './channel-path.ts'

describe('the local channel', () => {
  const place = ownDirectory()
  const directory = join(place.path, '.paidonce')
  let server: Child | undefined
  const run = (...args: string[]) => paidonce([...args, '--directory', directory])

  beforeAll(async () => {
    await embeddedDatabase(directory)
    server = startChild('cli', 'serve', '--directory', directory, '--port', '0')
    expect(await server.line()).toMatch(/^Listening on /)
  })
  afterAll(async () => {
    await server?.kill()
    place.remove()
  })

  it('runs commands in the server that owns the directory, with the same answers and exit statuses', async () => {
    const create = ['orders', 'create', 'A-1', '--amount', '10', '--currency', 'EUR', '--item', 'book']
    expect(await run(...create)).toMatchObject({
      status: 0,
      out: 'Order A-1 is registered; it is awaiting_payment.\n',
    })
    expect((await run('orders', 'show', 'A-1', '--json')).json()).toMatchObject({
      order: { reference: 'A-1', amount_minor: '1000' },
    })
    const audit = await run('audit')
    expect(audit).toMatchObject({ status: 0, out: expect.stringContaining('what the facts say') })
    expect(audit.progress.length).toBeGreaterThan(0)
    expect(await run('orders', 'show', 'B-1')).toMatchObject({
      status: 1,
      out: '',
      notes: expect.stringMatching(/^not_found: /),
    })
    expect((await run('effects', 'retry', 'first')).status).toBe(2)
  })

  it('takes several commands at once', async () => {
    const ran = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        run('orders', 'create', `C-${n}`, '--amount', '1', '--currency', 'EUR', '--item', 'x'),
      ),
    )
    expect(ran.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0])
  })

  it('is open to nobody but its owner', () => {
    expect(statSync(channelPath(directory)).mode & 0o777).toBe(0o600)
  })

  it('hangs up on whoever does not speak its language, and goes on', async () => {
    for (const text of ['GET / HTTP/1.1\r\n\r\n', 'null\n', '{}\n', '{"args":[1],"columns":null}\n']) {
      const socket = connect(channelPath(directory))
      socket.on('error', () => undefined)
      socket.write(text)
      await once(socket.resume(), 'close')
    }
    expect((await run('orders', 'list')).status).toBe(0)
  })

  it('does not let a second owner in', async () => {
    for (const name of ['serve', 'work']) {
      const second = await run(name)
      expect(second).toMatchObject({ status: 1, notes: expect.stringMatching(/^directory_in_use: /) })
    }
    const demo = await run('demo', '--once')
    expect(demo).toMatchObject({ status: 1, notes: expect.stringMatching(/^config_invalid: .*not made by/) })
  })

  it('opens the directory itself when the server was killed, and a new server takes its place', async () => {
    await server!.kill()
    expect((await run('orders', 'list', '--json')).json<unknown[]>()).toHaveLength(6)
    server = startChild('cli', 'serve', '--directory', directory, '--port', '0')
    expect(await server.line()).toMatch(/^Listening on /)
    expect((await run('orders', 'list', '--json')).json<unknown[]>()).toHaveLength(6)
    server.process.kill('SIGTERM')
    expect(await server.ended).toBe(0)
  })
})

describe('its path', () => {
  it('is short enough for every system, however deep the directory lies', async () => {
    const place = ownDirectory()
    const deep = join(place.path, 'a'.repeat(60), 'b'.repeat(60))
    await mkdir(deep, { recursive: true })
    expect(channelPath(join(place.path, 'x'))).toBe(join(place.path, 'x', 'commands.sock'))
    expect(Buffer.byteLength(channelPath(deep))).toBeLessThan(101)
    expect(channelPath(deep)).not.toBe(channelPath(`${deep}c`))
    expect(channelPath('C:\\shop', 'win32')).toMatch(/^\\\\\.\\pipe\\paidonce-/)
    place.remove()
  })
})

describe('its frames', () => {
  it('are read whole, however they are cut on the way', () => {
    const heard: unknown[] = []
    const reader = new FrameReader((frame) => heard.push(frame))
    for (const piece of ['{"out":"a\\n', 'b"}\n{"exi', 't":0}', '\n']) reader.take(piece)
    expect(heard).toEqual([{ out: 'a\nb' }, { exit: 0 }])
  })
})
