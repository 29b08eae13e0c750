import type { Parameter } from './database.ts'

/** What goes over the wire for one parameter: text, or bytes in PostgreSQL's binary format. */
export type EncodedValue = string | Buffer | null

type Element = string | number | bigint | boolean | null | Date | Uint8Array

/** Turns a parameter into its wire form. Throws `TypeError` for anything that is not a `Parameter`. */
export function encodeValue(value: Parameter): EncodedValue {
  if (value === null) return null
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return asBuffer(value)
  if (Array.isArray(value)) return encodeArray(value)
  return encodeScalar(value as Exclude<Element, null | Uint8Array>)
}

function encodeScalar(value: Exclude<Element, null | Uint8Array>): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (value instanceof Date) return encodeDate(value)
  throw new TypeError(
    `A query parameter has type ${typeof value}. Encode it as text, or pass null for nothing.`,
  )
}

function encodeDate(value: Date): string {
  const ms = value.getTime()
  if (Number.isNaN(ms))
    throw new TypeError('A query parameter is an invalid Date. Check where it was parsed.')
  const text = value.toISOString()
  // Years beyond 9999 or before 1 have a sign in ISO 8601 that PostgreSQL does not read.
  return text.length === 24 && !text.startsWith('0000') ? text : encodeFarDate(value)
}

function encodeFarDate(value: Date): string {
  const year = value.getUTCFullYear()
  const rest = value.toISOString().slice(-20)
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}

const needsEscape = /["\\]/

function encodeArray(elements: readonly Element[]): string | Buffer {
  if (elements.some((element) => element instanceof Uint8Array)) return encodeByteArray(elements)
  let literal = '{'
  for (let index = 0; index < elements.length; index++) {
    if (index > 0) literal += ','
    literal += encodeElement(elements[index] as Exclude<Element, Uint8Array>)
  }
  return `${literal}}`
}

function encodeElement(element: Exclude<Element, Uint8Array>): string {
  if (element === null) return 'NULL'
  if (typeof element !== 'string') return `"${encodeScalar(element)}"`
  return needsEscape.test(element)
    ? `"${element.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
    : `"${element}"`
}

/** `bytea[]` in binary, since its text form doubles every byte and is parsed again by the server. */
function encodeByteArray(elements: readonly Element[]): Buffer {
  let size = 20
  for (const element of elements) size += 4 + (element === null ? 0 : bytesOf(element).length)
  const packed = Buffer.allocUnsafe(size)
  packed.writeInt32BE(1, 0)
  packed.writeInt32BE(elements.includes(null) ? 1 : 0, 4)
  packed.writeInt32BE(oids.bytea, 8)
  packed.writeInt32BE(elements.length, 12)
  packed.writeInt32BE(1, 16)
  let offset = 20
  for (const element of elements) {
    if (element === null) {
      offset = packed.writeInt32BE(-1, offset)
      continue
    }
    const bytes = bytesOf(element)
    offset = packed.writeInt32BE(bytes.length, offset)
    packed.set(bytes, offset)
    offset += bytes.length
  }
  return packed
}

function bytesOf(element: Element): Uint8Array {
  if (element instanceof Uint8Array) return element
  throw new TypeError('An array parameter mixes bytes with other values. Give each kind its own parameter.')
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const oids = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  timestamptz: 1184,
  jsonb: 3802,
} as const

const arrayOids = {
  bool: 1000,
  bytea: 1001,
  int2: 1005,
  int4: 1007,
  text: 1009,
  varchar: 1015,
  int8: 1016,
  float4: 1021,
  float8: 1022,
  timestamptz: 1185,
  numeric: 1231,
  uuid: 2951,
  json: 199,
  jsonb: 3807,
} as const

export type Parser = (text: string) => unknown

const parseBytes: Parser = (text) => Buffer.from(text.slice(2), 'hex')
const asText: Parser = (text) => text

const scalars: Partial<Record<keyof typeof arrayOids, Parser>> = {
  bool: (text) => text === 't',
  bytea: parseBytes,
  int2: Number,
  int4: Number,
  int8: BigInt,
  float4: Number,
  float8: Number,
  timestamptz: parseTime,
  json: JSON.parse,
  jsonb: JSON.parse,
}

/** How each type's text form becomes a value, by type oid; any other type stays text. Never registered globally. */
export const parsers: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  ...Object.entries(oids).map(([name, oid]): [number, Parser] => [
    oid,
    scalars[name as keyof typeof arrayOids] ?? Number,
  ]),
  ...Object.entries(arrayOids).map(([name, oid]): [number, Parser] => [
    oid,
    arrayParser(scalars[name as keyof typeof arrayOids] ?? asText),
  ]),
])

/** The parser of one type; text for a type that is not listed. */
export function parserOf(oid: number): Parser {
  return parsers.get(oid) ?? asText
}

const isoTime =
  /^(\d{4,})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/

/** Reads the ISO output style, which the drivers ask for. Digits beyond milliseconds are cut. */
function parseTime(text: string): Date {
  const part = isoTime.exec(text)
  if (part === null)
    throw new RangeError(`The time ${text} has no Date. Store finite times, with DateStyle ISO.`)
  const number = (index: number) => Number(part[index] ?? 0)
  const ms = Number((part[7] ?? '').padEnd(3, '0').slice(0, 3))
  const time = new Date(Date.UTC(2000, number(2) - 1, number(3), number(4), number(5), number(6), ms))
  time.setUTCFullYear(part[12] === undefined ? number(1) : 1 - number(1), number(2) - 1, number(3))
  const offset_s = number(9) * 3600 + number(10) * 60 + number(11)
  return new Date(time.getTime() - (part[8] === '-' ? -offset_s : offset_s) * 1000)
}

function arrayParser(parse: Parser): Parser {
  return (text) => parseArray(text, parse)
}

const plainElement = /[^,}]+/y
const quotedElement = /"((?:[^"\\]|\\.)*)"/sy

function parseArray(text: string, parse: Parser): unknown[] {
  if (!text.startsWith('{') || text.startsWith('{{')) {
    throw new RangeError('Only arrays of one dimension that start at 1 are read. Change the query.')
  }
  const elements: unknown[] = []
  let offset = 1
  while (text[offset] !== '}') {
    const quoted = text[offset] === '"'
    const pattern = quoted ? quotedElement : plainElement
    pattern.lastIndex = offset
    const [found, inner = ''] = pattern.exec(text) as unknown as [string, string | undefined]
    if (quoted) elements.push(parse(inner.includes('\\') ? inner.replace(/\\(.)/gs, '$1') : inner))
    else elements.push(found === 'NULL' ? null : parse(found))
    offset += found.length
    if (text[offset] === ',') offset += 1
  }
  return elements
}
