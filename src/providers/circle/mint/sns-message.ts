import { fieldIn } from '../../field.ts'
import { parseJsonBody } from '../../json-body.ts'

/** One message of Amazon SNS, opened: the fields that its signature covers, and where that signature comes from. */
export interface SnsMessage {
  readonly type: SnsType
  /** The signed fields by their names; nothing else of the body may be believed. */
  readonly signed: Readonly<Record<string, string>>
  readonly signature: string
  readonly version: string
  readonly certUrl: string
}

export type SnsType = 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'

// In the order of their bytes, as they are signed.
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
const SIGNED: Readonly<Record<SnsType, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: CONFIRMATION,
  UnsubscribeConfirmation: CONFIRMATION,
}

/** Reads a body as an SNS message; null for what is none. The text of the content type says nothing (`text/plain`). */
export function readSnsMessage(body: Uint8Array): SnsMessage | null {
  const payload = parsed(body)
  const type = text(payload, 'Type')
  if (type === undefined || !Object.hasOwn(SIGNED, type)) return null
  const names = SIGNED[type as SnsType].filter(
    (name) => name !== 'Subject' || text(payload, name) !== undefined,
  )
  const signed = Object.fromEntries(names.map((name) => [name, text(payload, name)]))
  const [signature, version, certUrl] = ['Signature', 'SignatureVersion', 'SigningCertURL'].map((name) =>
    text(payload, name),
  )
  if (Object.values(signed).includes(undefined)) return null
  if (signature === undefined || version === undefined || certUrl === undefined) return null
  return { type: type as SnsType, signed: signed as Record<string, string>, signature, version, certUrl }
}

/** What is signed: each name and its value on lines of their own. */
export function stringToSign({ signed }: Pick<SnsMessage, 'signed'>): string {
  return Object.entries(signed)
    .map(([name, value]) => `${name}\n${value}\n`)
    .join('')
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseJsonBody(body)
  } catch {
    return undefined
  }
}

function text(payload: unknown, name: string): string | undefined {
  const value = fieldIn(payload, name)
  return typeof value === 'string' ? value : undefined
}
