import Table from 'cli-table3'
import { formatMinor } from '../money/format.ts'

export type Cell = string | number | bigint | boolean | Date | null | undefined

/** Rows for people, without colours, so that it reads the same in a file. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const drawn = new Table({ head: [...head], style: { head: [], border: [], compact: true } })
  for (const row of rows) drawn.push(row.map(cell))
  return `${drawn.toString()}\n`
}

/** Names and values below each other. */
export function list(entries: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(0, ...entries.map(([name]) => name.length))
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}\n`).join('')
}

/** An amount as people write it; `-` where nothing is known. */
export function money(amount_minor: bigint | string | null, currency: string | null): string {
  if (amount_minor === null || currency === null) return '-'
  return formatMinor(BigInt(amount_minor), currency)
}

/** The time to the second, UTC. */
export function time(at: Date | null): string {
  return at === null ? '-' : at.toISOString().replace('T', ' ').replace(/\..*/, '')
}

function cell(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-'
  return value instanceof Date ? time(value) : String(value)
}
