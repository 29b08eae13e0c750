// CPU time of the database server: the postmaster, its children, and the children it has already buried.
import { readdirSync, readFileSync } from 'node:fs'

const TICK_MS = 10

/**
 * @param {number | null} pid the postmaster's
 * @returns {number | null} milliseconds so far; null where it cannot be known (another machine, not Linux)
 */
export function serverCpu(pid) {
  if (pid === null || process.platform !== 'linux') return null
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = statOf(name)
    if (fields === null) continue
    if (name === String(pid)) ticks += sum(fields.slice(11, 15))
    else if (fields[1] === String(pid)) ticks += sum(fields.slice(11, 13))
  }
  return ticks * TICK_MS
}

/** The fields of /proc/<pid>/stat after the command: state, parent, ..., utime (11), stime, cutime, cstime. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

const sum = (fields) => fields.reduce((total, field) => total + Number(field), 0)
