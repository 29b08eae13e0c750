import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { Fault } from '../facts/fault.ts'

/** Who owns, or last owned, the directory. */
interface Owner {
  readonly pid: number
  readonly host: string
  /** Tells this process from a later one with its number; empty where the system does not say. */
  readonly started: string
  readonly released?: true
}

const sign_ms = 5_000
const silence_ms = 30_000

/**
 * Makes this process the only owner of a directory until the returned function is called or the process dies.
 * Throws Fault `directory_in_use` while another process owns it.
 *
 * Owners are numbered: each writes `owner.<n>`, one more than the highest there, and the highest is the one that counts.
 * The highest file is never deleted, so two that find the same dead owner cannot both succeed it.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const self: Owner = { pid: process.pid, host: hostname(), started: await startOf(process.pid) }
  for (;;) {
    const highest = await highestOwner(directory)
    if (highest > 0) await refuseLivingOwner(directory, highest, self.host)
    const file = ownerFile(directory, highest + 1)
    if (!(await createWhole(file, self))) continue
    if ((await highestOwner(directory)) > highest + 1) {
      await rm(file, { force: true })
      continue
    }
    await removeFormer(directory, highest + 1)
    return keep(file, self)
  }
}

function ownerFile(directory: string, number: number): string {
  return join(directory, `owner.${number}`)
}

async function ownerNumbers(directory: string): Promise<number[]> {
  return (await readdir(directory)).flatMap((name) =>
    /^owner\.\d+$/.test(name) ? [Number(name.slice(6))] : [],
  )
}

async function highestOwner(directory: string): Promise<number> {
  return Math.max(0, ...(await ownerNumbers(directory)))
}

async function removeFormer(directory: string, number: number): Promise<void> {
  const former = (await ownerNumbers(directory)).filter((other) => other < number)
  await Promise.all(former.map((other) => rm(ownerFile(directory, other), { force: true })))
}

async function refuseLivingOwner(directory: string, number: number, host: string): Promise<void> {
  const file = ownerFile(directory, number)
  const owner = await readOwner(file)
  if (owner === undefined || owner.released || !(await isAlive(owner, file, host))) return
  throw inUse(directory, owner, host)
}

function inUse(directory: string, owner: Owner, host: string): Fault {
  const where = `The database in ${resolve(directory)} is open in`
  if (owner.host === host && owner.pid === process.pid) {
    return new Fault('directory_in_use', `${where} this process already. Use that one, or close it first.`)
  }
  const who = owner.host === host ? `process ${owner.pid}` : `process ${owner.pid} on ${owner.host}`
  return new Fault(
    'directory_in_use',
    `${where} ${who}. Stop that process first, or share a PostgreSQL server (\`database\`); the command line is let in only by \`paidonce serve\`, \`work\` and \`demo\`.`,
  )
}

async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Owner
  } catch {
    // Removed meanwhile by its successor, which the next look will see.
    return undefined
  }
}

async function isAlive(owner: Owner, file: string, host: string): Promise<boolean> {
  // Another host's processes cannot be asked; a living owner touches its file.
  if (owner.host !== host) return Date.now() - (await stat(file)).mtimeMs < silence_ms
  if (!isRunning(owner.pid)) return false
  const started = await startOf(owner.pid)
  return owner.started === '' || started === '' || owner.started === started
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** On Linux the boot and the tick in which a process started; process numbers are used again. */
async function startOf(pid: number): Promise<string> {
  try {
    const [boot, line] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ])
    // The second field, the command in brackets, may hold spaces; the start is field 22.
    return `${boot.trim()}/${line.slice(line.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return ''
  }
}

/** Creates a file with all its content or not at all. Resolves to false when the name is taken. */
async function createWhole(file: string, owner: Owner): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, JSON.stringify(owner))
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

function keep(file: string, self: Owner): () => Promise<void> {
  const timer = setInterval(() => {
    const now = new Date()
    utimes(file, now, now).catch(() => undefined)
  }, sign_ms)
  timer.unref()
  return async () => {
    clearInterval(timer)
    const draft = `${file}.${randomUUID()}`
    await writeFile(draft, JSON.stringify({ ...self, released: true }))
    await rename(draft, file)
  }
}
