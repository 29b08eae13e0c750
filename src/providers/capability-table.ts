import type { CapabilitySheet, IdempotencyRules } from './capability.ts'

/** One provider of the table: the name of its folder, which is also its page's, and what it can do. */
export interface Listed {
  readonly name: string
  readonly capabilities: CapabilitySheet
}

type Column = readonly [title: string, cell: (sheet: CapabilitySheet) => string]

const PROOF: Readonly<Record<CapabilitySheet['proof'], string>> = {
  bytes: 'signature over the bytes',
  fields: 'signature over named fields',
  confirmation: 'the provider, when asked',
  none: 'nothing; a look-up tells',
}

const EVENT_ID: Readonly<Record<CapabilitySheet['event_id'], string>> = {
  body: 'in the body',
  signed_header: 'in a signed header',
  unsigned_header: 'in an unsigned header',
  none: 'none; a digest stands in',
}

const REPEAT: Readonly<Record<IdempotencyRules['repeat'], string>> = {
  same_answer: 'gets the same answer',
  same_answer_errors_too: 'gets the same answer, errors included',
  finishes_the_work: 'finishes what was begun',
  runs_again: 'acts again',
  unknown: 'does nobody knows what',
}

const MESSAGES: readonly Column[] = [
  ['What proves a message', (sheet) => PROOF[sheet.proof]],
  ['Signed time', (sheet) => yesNo(sheet.signed_time)],
  ['Event id', (sheet) => EVENT_ID[sheet.event_id]],
  ['Test marker', (sheet) => (sheet.test_marker === 'body' ? 'in the message' : 'by the secret or host')],
  ['Sends again', sendsAgain],
  ['Refund ids', (sheet) => yesNo(sheet.refund_ids)],
  ['Late failure, days', lateFailure],
]

const REQUESTS: readonly Column[] = [
  ['Look-up by payment', (sheet) => yesNo(sheet.lookup_by_payment)],
  ['Look-up by reference', (sheet) => yesNo(sheet.lookup_by_reference)],
  ['Lists by window', (sheet) => yesNo(sheet.lists_by_window)],
  ['Answers lag', (sheet) => (sheet.read_lag_ms === null ? 'unknown' : span(sheet.read_lag_ms))],
  ['Refund key', (sheet) => key(sheet.idempotency.refund)],
  ['Charge key', (sheet) => key(sheet.idempotency.charge)],
]

/** The page `docs/providers/capabilities.md`: what each provider can and cannot do, from its capability sheet. */
export function renderCapabilities(providers: readonly Listed[]): string {
  return `${[
    '# What each provider can do',
    'Made from the capability sheets in `src/providers/`. Do not edit it: `npx vitest run src/providers/capability-table.test.ts --update` writes it.',
    '## Messages',
    table(MESSAGES, providers),
    '## Look-ups and requests',
    table(REQUESTS, providers),
    'A key is what keeps a repeated request from acting twice: where it goes, and for how long it is safe to repeat. `-` means that there is no such request.',
    '## Repeating a request',
    providers.flatMap(repetitions).join('\n'),
  ].join('\n\n')}\n`
}

function table(columns: readonly Column[], providers: readonly Listed[]): string {
  const header = ['Provider', ...columns.map(([title]) => title)]
  const rows = providers.map(({ name, capabilities }) => [
    `[${name}](${name}.md)`,
    ...columns.map(([, cell]) => cell(capabilities).replaceAll('|', '\\|')),
  ])
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

function repetitions({ name, capabilities }: Listed): readonly string[] {
  return (['refund', 'charge'] as const).flatMap((request) => {
    const rules = capabilities.idempotency[request]
    if (rules === null) return []
    const no = rules.definitive_no.map((code) => `\`${code}\``).join(', ') || 'none is known'
    const note = rules.note === '' ? '' : ` ${rules.note}`
    return [`- **${name}**, ${request}: a repeat ${REPEAT[rules.repeat]}. A definitive no: ${no}.${note}`]
  })
}

function key(rules: IdempotencyRules | null): string {
  if (rules === null) return '-'
  if (rules.where === 'none') return 'none'
  const window = rules.window_hours === null ? 'window unknown or without end' : `${rules.window_hours} h`
  return `\`${rules.name ?? '?'}\` (${rules.where}), ${window}`
}

function sendsAgain({ redelivers, redelivers_for_hours: hours }: CapabilitySheet): string {
  if (!redelivers) return 'no'
  return hours === null ? 'yes, how long is unknown' : `yes, for ${hours} h`
}

function lateFailure({ late_failure_days }: CapabilitySheet): string {
  const methods = Object.entries(late_failure_days)
  return methods.map(([method, days]) => `${method === '*' ? 'others' : method} ${days}`).join(', ') || '-'
}

function span(lag_ms: number): string {
  return lag_ms % 1000 === 0 ? `${lag_ms / 1000} s` : `${lag_ms} ms`
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no'
}
