import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { Fault } from '../facts/fault.ts'
import { parseDecimal, parseMinor } from '../money/amount.ts'
import { exponentOf } from '../money/currency.ts'
import type { ReconciledKind } from '../rules/reconcile.ts'
import type { ComparedItem } from './compared-item.ts'

/** What a column of a settlement file means. */
export type SettlementField =
  /** The provider's id of the payment, refund or dispute. Has to be there. */
  | 'id'
  /** Amount that moved, before fees. Has to be there. */
  | 'amount'
  /** ISO 4217 code. May be left out where the map names one currency for the whole file. */
  | 'currency'
  /** What the line is about; `kinds` says what its words mean. Left out, every line is a payment. */
  | 'kind'
  /** The payment that a refund or a dispute belongs to. */
  | 'payment'
  /** What the provider kept of it. */
  | 'fee'
  /** Before an exchange. */
  | 'original_amount'
  | 'original_currency'
  /** In the provider's words; `statuses` says what they mean. */
  | 'status'

const FIELDS: readonly SettlementField[] = [
  'id',
  'amount',
  'currency',
  'kind',
  'payment',
  'fee',
  'original_amount',
  'original_currency',
  'status',
]

/** How a settlement file is read. */
export interface SettlementMap {
  /** Column names by what they mean. */
  readonly columns: Readonly<Partial<Record<SettlementField, string>>>
  /** What the words of the kind column mean; lines with other words (fees, payouts) are left out. */
  readonly kinds?: Readonly<Record<string, ReconciledKind>> | undefined
  /** What the words of the status column mean in ours (`succeeded`); others say nothing. */
  readonly statuses?: Readonly<Record<string, string>> | undefined
  /** Currency of the whole file, where no column says it. */
  readonly currency?: string | undefined
  /** Amounts are whole minor units; otherwise decimal major units with a point. Default false. */
  readonly minor?: boolean | undefined
  /** Character between columns. Default a comma. */
  readonly delimiter?: string | undefined
}

/** A settlement file, known by the digest of its bytes. */
export interface SettlementFile {
  /** SHA-256 in hexadecimal. */
  readonly digest: string
  /** Items of the file, so many at once; the same lines in the same order at every call. */
  pages(): AsyncIterable<SettlementPage>
}

export interface SettlementPage {
  readonly items: readonly ComparedItem[]
  /** Lines whose kind the map does not name. */
  readonly left_out: number
}

const PAGE = 500
const LINE_MAX = 262_144

/** Reads `id=Charge ID,amount=Gross`. Throws Fault `config_invalid`. */
export function readColumns(text: string): SettlementMap['columns'] {
  const columns: Partial<Record<SettlementField, string>> = {}
  for (const part of text.split(',')) {
    const [field, ...name] = part.split('=')
    const column = name.join('=').trim()
    if (!isField(field?.trim()) || column === '')
      throw new Fault(
        'config_invalid',
        `--map takes pairs like id=Charge ID, not ${JSON.stringify(part)}. Fields: ${FIELDS.join(', ')}.`,
      )
    columns[field!.trim() as SettlementField] = column
  }
  return columns
}

function isField(text: string | undefined): text is SettlementField {
  return FIELDS.includes(text as SettlementField)
}

/** Opens a settlement file. Throws Fault `config_invalid` when it is not there, or the map lacks what has to be there. */
export async function openSettlementFile(path: string, map: SettlementMap): Promise<SettlementFile> {
  for (const field of ['id', 'amount'] as const) {
    if (map.columns[field] === undefined)
      throw new Fault(
        'config_invalid',
        `The map names no column for ${field}. Add ${field}=<column> to --map.`,
      )
  }
  if (map.columns.currency === undefined && map.currency === undefined)
    throw new Fault(
      'config_invalid',
      'Nothing tells the currency. Add currency=<column> to --map, or --currency.',
    )
  const digest = await digestOf(path)
  return { digest, pages: () => pagesOf(path, map, digest) }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const part of createReadStream(path)) hash.update(part as Buffer)
  } catch (cause) {
    throw new Fault('config_invalid', `${path} cannot be read. Correct the path.`, { cause })
  }
  return hash.digest('hex')
}

interface Line {
  readonly record: Readonly<Record<string, string>>
  readonly info: { readonly lines: number }
}

async function* pagesOf(path: string, map: SettlementMap, digest: string): AsyncIterable<SettlementPage> {
  const parser = createReadStream(path).pipe(
    parse({
      bom: true,
      columns: (header: string[]) => checkedHeader(header, map),
      delimiter: map.delimiter ?? ',',
      info: true,
      trim: true,
      skip_empty_lines: true,
      max_record_size: LINE_MAX,
    }),
  )
  let items: ComparedItem[] = []
  let left_out = 0
  try {
    for await (const line of parser as AsyncIterable<Line>) {
      const item = itemOf(map, digest, line)
      if (item === null) left_out += 1
      else items.push(item)
      if (items.length + left_out < PAGE) continue
      yield { items, left_out }
      items = []
      left_out = 0
    }
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault(
      'config_invalid',
      `The settlement file cannot be read: ${cause instanceof Error ? cause.message : ''}`,
      { cause },
    )
  }
  yield { items, left_out }
}

function checkedHeader(header: readonly string[], { columns }: SettlementMap): string[] {
  const missing = Object.values(columns).filter((column) => !header.includes(column))
  if (missing.length === 0) return [...header]
  throw new Fault(
    'config_invalid',
    `The file has no column ${missing.join(', ')}. It has: ${header.join(', ')}.`,
  )
}

/** Null for a line of another kind. An amount that cannot be read is none, and so cannot be verified. */
function itemOf(map: SettlementMap, digest: string, { record, info }: Line): ComparedItem | null {
  const text = (field: SettlementField) => {
    const column = map.columns[field]
    const value = column === undefined ? '' : record[column]
    return value === '' || value === undefined ? null : value
  }
  const kind = map.columns.kind === undefined ? 'payments' : own(map.kinds, text('kind'))
  if (kind === null) return null
  const place = `file ${digest.slice(0, 12)} line ${info.lines}`
  const currency = text('currency')?.toUpperCase() ?? map.currency ?? null
  const amount = (field: SettlementField, in_currency: string | null) =>
    readAmount(text(field), in_currency, map.minor === true)
  const original_currency = text('original_currency')?.toUpperCase() ?? null
  const original = amount('original_amount', original_currency)
  const id = text('id')
  return {
    kind,
    // Two lines without an id are two objects.
    id: id ?? place,
    payment: kind === 'payments' ? id : text('payment'),
    facts: [],
    place,
    side: {
      status: own(map.statuses, text('status')),
      amount_minor: amount('amount', currency),
      currency,
      fee_minor: amount('fee', currency),
      original:
        original === null || original_currency === null
          ? null
          : { amount_minor: original, currency: original_currency },
      foreign: false,
    },
  }
}

function own<Value>(table: Readonly<Record<string, Value>> | undefined, word: string | null): Value | null {
  return table !== undefined && word !== null && Object.hasOwn(table, word) ? table[word]! : null
}

/** Money that goes back is written with a sign by some and without by others; what it is, the kind says. */
function readAmount(text: string | null, currency: string | null, minor: boolean): bigint | null {
  const exponent = currency === null ? null : exponentOf(currency)
  if (text === null || exponent === null) return null
  const read = minor ? parseMinor(text, { negative: true }) : parseDecimal(text, exponent, { negative: true })
  if (!read.ok) return null
  return read.amount_minor < 0n ? -read.amount_minor : read.amount_minor
}
