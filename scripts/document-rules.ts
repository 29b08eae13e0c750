// Writes docs/states.md, and the table in docs/policies.md, from the rank tables and the policy's defaults, so that neither
// can say anything else than the rules do. `npm run document`; with --check it writes nothing and exits 1 when they differ.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DEFAULT_POLICY, type Policy } from '../src/rules/policy.ts'
import { POLICY_GUIDE } from '../src/rules/policy-guide.ts'
import {
  DISPUTE_MEANING,
  DISPUTE_STAGE_RANK,
  FINAL_SUBSCRIPTION_STATUSES,
  FIRST_STAGE_WITH_MONEY,
  FIRST_SUBSCRIPTION_STATUS,
  PAYMENT_RANK,
  REFUND_RANK,
  UNORDERED_PAYMENT_PAIRS,
} from '../src/rules/rank.ts'

const BEGIN = '<!-- policy table: npm run document -->'
const END = '<!-- end of the policy table -->'

/** The page of policies with the table as it must be. */
export function policiesPage(page: string): string {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined)
    throw new Error(`docs/policies.md lacks "${BEGIN}" or "${END}".`)
  return `${before}${BEGIN}\n\n${policyTable()}\n\n${END}${after}`
}

function policyTable(): string {
  const rows = (Object.keys(POLICY_GUIDE) as (keyof Policy)[]).map((option) => {
    const { when, accepts } = POLICY_GUIDE[option]
    const standard = shown(DEFAULT_POLICY[option])
    const others = (accepts.words ?? [])
      .filter((word) => word !== DEFAULT_POLICY[option])
      .map((word) => `\`${word}\``)
    const further = [accepts.number?.what, accepts.amount].filter((words) => words !== undefined)
    return [`\`${option}\``, when, standard, [...others, ...further].join(', ')]
  })
  return table([['option', 'asked when', 'default', 'other values'], ...rows])
}

function shown(value: Policy[keyof Policy]): string {
  return value === null ? 'no limit' : `\`${value}\``
}

/** Cells padded, as the formatter leaves them. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const [head, ...body] = rows
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

/** Names of a rank table in rows, lowest rank first. */
function byRank<Name extends string>(ranks: Readonly<Record<Name, number>>): Name[][] {
  const rows = new Map<number, Name[]>()
  for (const name of Object.keys(ranks) as Name[])
    rows.set(ranks[name], [...(rows.get(ranks[name]) ?? []), name])
  return [...rows].sort(([a], [b]) => a - b).map(([, names]) => names)
}

/** Each name leads to those of the next rank; what is skipped on the way was never told, and is not missed. */
function ladder<Name extends string>(ranks: Readonly<Record<Name, number>>): string[] {
  const rows = byRank(ranks)
  return rows.flatMap((names, place) =>
    names.flatMap((name) => (rows[place + 1] ?? []).map((next) => `    ${name} --> ${next}`)),
  )
}

function diagram(lines: readonly string[]): string {
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}

function paymentDiagram(): string {
  const conflicts = UNORDERED_PAYMENT_PAIRS.map((pair) =>
    pair.map((name) => `    ${name} --> conflicted : both told`),
  )
  return diagram(['    [*] --> created', ...ladder(PAYMENT_RANK), ...conflicts.flat()])
}

function refundDiagram(): string {
  return diagram(['    [*] --> requested', ...ladder(REFUND_RANK)])
}

function disputeDiagram(): string {
  const stages = byRank(DISPUTE_STAGE_RANK).map(([stage]) => stage!)
  const meanings = new Map<string, string[]>()
  for (const [status, meaning] of Object.entries(DISPUTE_MEANING))
    meanings.set(meaning, [...(meanings.get(meaning) ?? []), status])
  const words: Readonly<Record<string, string>> = {
    open: 'withheld',
    lost: 'gone',
    released: 'ours',
    partial: 'gone in part',
  }
  const of_a_stage = [...meanings].map(([meaning, statuses]) =>
    meaning === 'open'
      ? `        [*] --> open : ${statuses.join(', ')}`
      : `        open --> ${meaning} : ${statuses.join(', ')}`,
  )
  return diagram([
    `    [*] --> ${stages[0]}`,
    ...stages.slice(1).map((stage, place) => `    ${stages[place]} --> ${stage}`),
    ...stages.map((stage) => {
      const takes = DISPUTE_STAGE_RANK[stage] >= FIRST_STAGE_WITH_MONEY
      return `    ${stage} : ${stage} (${takes ? 'takes the money' : 'moves no money'})`
    }),
    '    state "within any stage" as verdict {',
    ...of_a_stage,
    ...[...meanings.keys()].map((meaning) => `        ${meaning} : ${meaning} (${words[meaning]})`),
    '    }',
  ])
}

function subscriptionDiagram(): string {
  const finals = FINAL_SUBSCRIPTION_STATUSES
  return diagram([
    `    [*] --> ${FIRST_SUBSCRIPTION_STATUS}`,
    `    ${FIRST_SUBSCRIPTION_STATUS} --> living`,
    '    living --> living : the newest by the provider’s time',
    '    living : every other status',
    ...finals.flatMap((status) => [`    living --> ${status}`, `    ${status} --> [*]`]),
  ])
}

export function statesPage(): string {
  return `# States

Made from \`src/rules/rank.ts\` by \`npm run document\`; a test compares the two.

A state is never set. It is the highest milestone that is known, so a message that comes late, twice or not at all moves
nothing back: an arrow only says what outranks what. Where a provider's machine has a way back, no rank can be right: both
statements are kept, neither is believed, and a person or a look-up decides.

## Payment

Of one attempt; of several, the farthest one counts. \`succeeded\` outranks \`failed\`: an attempt may be tried again under the
same id, and the old failure may come late. What a bank takes back after success is \`reversed\`, never \`failed\`.

${paymentDiagram()}

## Refund

By its own id and amount. \`failed\` and \`canceled\` outrank \`succeeded\`: a refund may come back days after it was reported
done, and what it took is then given again.

${refundDiagram()}

## Dispute

A later stage replaces an earlier one, whatever that one's verdict was. Within a stage a verdict outranks an open question,
and of two verdicts the newest by the provider's time holds: a dispute may be lost and then won. The verdict says what a
withdrawal means; how much moved is told apart, by the movements themselves.

${disputeDiagram()}

## Subscription

No rank, since it goes back and forth: the provider's time decides, and an end is final.

${subscriptionDiagram()}
`
}

function run(): void {
  const pages = [
    { file: fileURLToPath(new URL('../docs/states.md', import.meta.url)), make: statesPage },
    { file: fileURLToPath(new URL('../docs/policies.md', import.meta.url)), make: policiesPage },
  ]
  for (const { file, make } of pages) {
    const current = readFileSync(file, { encoding: 'utf8', flag: 'a+' })
    const wanted = make(current)
    if (current === wanted) continue
    if (process.argv.includes('--check')) {
      process.stderr.write(`${file} is out of date. Run: npm run document\n`)
      process.exitCode = 1
    } else writeFileSync(file, wanted)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) run()
