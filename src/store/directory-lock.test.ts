import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Child, startChild } from '../../test/child.ts'
import { lockDirectory } from './directory-lock.ts'

let directory: string
const children: Child[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'paidonce-lock-'))
})

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
  rmSync(directory, { recursive: true, force: true })
})

async function startOwner(): Promise<{ child: Child; own: () => Promise<string> }> {
  const child = startChild('own-directory', directory)
  children.push(child)
  await child.line()
  return {
    child,
    own: () => {
      child.process.stdin!.write('go\n')
      return child.line()
    },
  }
}

function writeOwner(number: number, owner: object): string {
  const file = join(directory, `owner.${number}`)
  writeFileSync(file, JSON.stringify(owner))
  return file
}

describe('the owner of a directory', () => {
  it('is refused to a second process, with the number of the first and what to do', async () => {
    const { child, own } = await startOwner()
    expect(await own()).toBe('owner')
    const second = lockDirectory(directory)
    await expect(second).rejects.toMatchObject({ code: 'directory_in_use', retriable: false })
    await expect(second).rejects.toThrow(`is open in process ${child.process.pid}. Stop that process`)
  })

  it('is refused to the same process', async () => {
    const unlock = await lockDirectory(directory)
    await expect(lockDirectory(directory)).rejects.toThrow('this process already')
    await unlock()
  })

  it('is free again after it was given back', async () => {
    for (let times = 0; times < 3; times++) await (await lockDirectory(directory))()
    expect(readdirSync(directory)).toEqual(['owner.3'])
  })

  it('is succeeded by the next after kill -9', async () => {
    const { child, own } = await startOwner()
    expect(await own()).toBe('owner')
    await child.kill()
    const unlock = await lockDirectory(directory)
    expect(readdirSync(directory)).toEqual(['owner.2'])
    await unlock()
  })

  it('is exactly one of several that find a dead owner at the same moment', async () => {
    const { child, own } = await startOwner()
    expect(await own()).toBe('owner')
    await child.kill()
    const rivals = await Promise.all([startOwner(), startOwner(), startOwner(), startOwner()])
    const outcomes = await Promise.all(rivals.map((rival) => rival.own()))
    expect(outcomes.sort()).toEqual(['directory_in_use', 'directory_in_use', 'directory_in_use', 'owner'])
  })

  it('is exactly one of many calls in one process', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => lockDirectory(directory)))
    const winners = outcomes.filter(({ status }) => status === 'fulfilled')
    expect(winners).toHaveLength(1)
  })

  it.runIf(process.platform === 'linux')(
    'is not taken for alive because its process number is used again',
    async () => {
      writeOwner(4, { pid: process.ppid, host: hostname(), started: 'another boot/1' })
      const unlock = await lockDirectory(directory)
      const owner = JSON.parse(readFileSync(join(directory, 'owner.5'), 'utf8'))
      expect(owner).toMatchObject({ pid: process.pid, host: hostname() })
      await unlock()
    },
  )

  it('on another host is alive as long as it touches its file', async () => {
    const file = writeOwner(1, { pid: 1, host: 'another-host', started: '' })
    await expect(lockDirectory(directory)).rejects.toThrow('process 1 on another-host')
    const minuteAgo = new Date(Date.now() - 60_000)
    utimesSync(file, minuteAgo, minuteAgo)
    await (await lockDirectory(directory))()
  })

  it('that wrote nothing readable is no owner', async () => {
    writeFileSync(join(directory, 'owner.7'), '')
    await (await lockDirectory(directory))()
    expect(readdirSync(directory)).toEqual(['owner.8'])
  })
})
