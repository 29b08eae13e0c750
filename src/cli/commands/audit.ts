import { type AuditReport, audit } from '../../audit/audit.ts'
import { checkInvariants, type InvariantReport } from '../../audit/invariants.ts'
import type { Register } from '../command.ts'
import { money, table, time } from '../table.ts'

export const registerAudit: Register = (program, act) => {
  const command = program
    .command('audit')
    .description('derive everything from the facts again and compare; exit status 1 when anything differs')
  act(command, async (context) => {
    const { database, installation } = await context.open()
    const report = await audit(database, {
      buckets: installation.buckets,
      onProgress: (done, total) => context.progress({ label: 'Deriving', done, total }),
    })
    context.progress(null)
    const invariants = await checkInvariants(database, installation.buckets, new Date(context.now_ms()))
    context.answer({ ...report, invariants }, () => [inWords(report), invariantsInWords(invariants)].join(''))
    return report.differences_total === 0 && invariants.broken.length === 0 ? 0 : 1
  })
}

function invariantsInWords({ counts, broken }: InvariantReport): string {
  if (broken.length === 0)
    return 'What is paid is fulfilled, what is fulfilled is paid, and money is conserved.\n'
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return `${table(
    ['must hold', 'row', 'but'],
    broken.map(({ invariant, row, detail }) => [invariant, row, detail]),
  )}${total} rows break what must always hold.\n`
}

function inWords(report: AuditReport): string {
  const counted = Object.entries(report.checked)
  const parts = [
    table(['compared', 'rows'], counted),
    report.money.length === 0
      ? ''
      : table(
          ['currency', 'captured', 'refunded', 'lost', 'reversed', 'net', 'in dispute'],
          report.money.map((sums) => [
            sums.currency,
            money(sums.captured_minor, sums.currency),
            money(sums.refunded_minor, sums.currency),
            money(sums.lost_minor, sums.currency),
            money(sums.reversed_minor, sums.currency),
            money(sums.net_minor, sums.currency),
            money(sums.disputed_minor, sums.currency),
          ]),
        ),
    report.differences_total === 0
      ? 'Everything stored is what the facts say.\n'
      : `${table(
          ['table', 'row', 'column', 'stored', 'by the facts'],
          report.differences.map((found) => [
            found.table,
            found.row,
            found.column,
            found.stored,
            found.derived,
          ]),
        )}${report.differences_total} stored values are not what the facts say.\n`,
    report.marked.length === 0
      ? ''
      : `${table(
          ['kept, to be settled', 'since', 'attempts', 'why'],
          report.marked.map((mark) => [
            mark.event_key ?? mark.order_ref,
            time(mark.marked_at),
            mark.attempts,
            mark.last_error,
          ]),
        )}`,
  ]
  return parts.filter((part) => part !== '').join('\n')
}
