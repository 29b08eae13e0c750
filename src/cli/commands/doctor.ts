import { Fault } from '../../facts/fault.ts'
import { checkOptions, endpointOptions, type PaidOnceOptions } from '../../options.ts'
import type { PaidOnce } from '../../paidonce.ts'
import type { Provider } from '../../providers/contract.ts'
import { countWaiting, inspectServer } from '../../store/queries/inspect-server.ts'
import type { CommandContext, Register } from '../command.ts'
import { table } from '../table.ts'

interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warning' | 'problem'
  readonly detail: string
}

const ok = (check: string, detail: string): Finding => ({ check, result: 'ok', detail })
const warning = (check: string, detail: string): Finding => ({ check, result: 'warning', detail })
const problem = (check: string, detail: string): Finding => ({ check, result: 'problem', detail })

/** More than this between our clock and the database's, and signed times and leases become doubtful. */
const SKEW_MS = 5_000
/** An effect that is due for so long has nobody who delivers it. */
const LATE_MS = 10 * 60_000

export const registerDoctor: Register = (program, act) => {
  const command = program
    .command('doctor')
    .description('look for what would hurt later; exit status 1 when something has to be mended')
  act(command, async (context) => {
    const findings = await examine(context)
    context.answer(findings, () =>
      table(
        ['check', 'result', 'what'],
        findings.map(({ check, result, detail }) => [check, result, detail]),
      ),
    )
    return findings.some(({ result }) => result === 'problem') ? 1 : 0
  })
}

async function examine(context: CommandContext): Promise<Finding[]> {
  let options: PaidOnceOptions
  try {
    options = await context.configure()
    checkOptions(options)
  } catch (error) {
    return [problem('configuration', inWords(error))]
  }
  const findings = [ok('configuration', 'can be read'), ...endpoints(options)]
  let paidonce: PaidOnce
  try {
    paidonce = await context.open()
  } catch (error) {
    return error instanceof Fault ? [...findings, problem('database', inWords(error))] : Promise.reject(error)
  }
  return [...findings, ...(await database(context, paidonce)), ...(await waiting(context, paidonce))]
}

function endpoints(options: PaidOnceOptions): Finding[] {
  const names = Object.entries(options.endpoints)
  if (names.length === 0)
    return [warning('endpoints', 'none is configured, so nothing can be received or replayed')]
  return names.flatMap(([name, given]) => {
    const { provider } = endpointOptions(given)
    const check = `endpoint ${name}`
    const secrets = provider.secrets.map(nameOf).join(', ')
    const { redelivers, redelivers_for_hours } = provider.capabilities
    const again =
      redelivers_for_hours === null ? 'delivers again' : `delivers again for ${redelivers_for_hours} hours`
    return [
      ok(check, `${provider.provider}/${provider.account}, secrets ${secrets || 'none'}`),
      ...provider.secrets
        .filter(({ trimmed }) => trimmed)
        .map(({ label }) =>
          warning(check, `white space was cut off secret ${label}; set it without, wherever it comes from`),
        ),
      redelivers
        ? ok(check, `${provider.provider} ${again} after an answer that is not 2xx`)
        : warning(
            check,
            `${provider.provider} does not deliver again: what is lost on the way is found only by comparing with its own list`,
          ),
      ...asking(check, provider, options),
    ]
  })
}

/** Whether the provider can be asked, and whether that is needed. */
function asking(check: string, provider: Provider, { public_url }: PaidOnceOptions): Finding[] {
  const { proof, lookup_by_payment } = provider.capabilities
  const findings: Finding[] = []
  if (provider.lookup)
    findings.push(ok(check, `${provider.provider} is asked about what messages do not prove`))
  else if (proof === 'none') {
    findings.push(
      problem(
        check,
        `${provider.provider} signs nothing and has no API credentials to be asked with: nothing can be granted`,
      ),
    )
  } else if (lookup_by_payment) {
    findings.push(
      warning(
        check,
        `no API credentials: ${provider.provider} cannot be asked about payments whose webhook never came`,
      ),
    )
  }
  if (provider.start && public_url === undefined) {
    findings.push(warning(check, '`public_url` is not set, so `startPayment` needs a `return_url` each time'))
  }
  return findings
}

/** A secret without a name of its own is called by its fingerprint. */
function nameOf({ label, fingerprint }: { label: string; fingerprint: string }): string {
  return label === fingerprint ? fingerprint : `${label} (${fingerprint})`
}

async function database(context: CommandContext, { database, installation }: PaidOnce): Promise<Finding[]> {
  const began_ms = context.now_ms()
  const server = await inspectServer(database)
  const skew_ms = Math.abs((began_ms + context.now_ms()) / 2 - server.now.getTime())
  const embedded = database.driver === 'pglite'
  const durable =
    server.fsync === 'on' && server.full_page_writes === 'on' && server.synchronous_commit !== 'off'
  const durability = `fsync ${server.fsync}, synchronous_commit ${server.synchronous_commit}, full_page_writes ${server.full_page_writes}`
  return [
    ok(
      'database',
      `${embedded ? 'embedded PostgreSQL' : 'PostgreSQL'} ${server.version}, ${installation.mode} mode`,
    ),
    ok('migrations', 'the schema is that of this release'),
    embedded
      ? warning('durability', 'the embedded database survives a crash of the process, not a loss of power')
      : durable
        ? ok('durability', durability)
        : problem('durability', `${durability}: a crash of the server may forget what was answered with 200`),
    server.isolation === 'read committed'
      ? ok('isolation', server.isolation)
      : ok('isolation', `${server.isolation} by default; PaidOnce asks for read committed itself`),
    server.in_recovery
      ? problem('writes', 'this is a standby that takes no writes; connect to the primary')
      : ok('writes', 'the server takes writes'),
    skew_ms <= SKEW_MS
      ? ok('clock', `${Math.round(skew_ms)} ms from the database's`)
      : problem('clock', `${Math.round(skew_ms)} ms from the database's; set both by NTP`),
  ]
}

async function waiting(context: CommandContext, { database, installation }: PaidOnce): Promise<Finding[]> {
  const late_before = new Date(context.now_ms() - LATE_MS)
  const sums = { marks: 0n, dead: 0n, late: 0n, urgent: 0n, unreadable: 0n }
  for (let bucket = 0; bucket < installation.buckets; bucket += 1) {
    const found = await countWaiting(database, bucket, late_before)
    sums.marks += found.marks
    sums.dead += found.dead_effects
    sums.late += found.late_effects
    sums.urgent += found.urgent_exceptions
    sums.unreadable += found.unreadable_events
  }
  const count = (check: string, number: bigint, what: string, otherwise: (detail: string) => Finding) =>
    number === 0n ? ok(check, 'none') : otherwise(`${number} ${what}`)
  return [
    count('kept', sums.marks, 'wait to be settled; `paidonce audit` lists them', (detail) =>
      warning('kept', detail),
    ),
    count('dead effects', sums.dead, 'were given up: `paidonce effects list --state dead`', (detail) =>
      problem('dead effects', detail),
    ),
    count('late effects', sums.late, 'are due for long: run `paidonce serve` or `paidonce work`', (detail) =>
      problem('late effects', detail),
    ),
    count(
      'unreadable events',
      sums.unreadable,
      'could not be read: `paidonce events list --state unreadable`',
      (detail) => problem('unreadable events', detail),
    ),
    count('urgent exceptions', sums.urgent, 'are open: `paidonce exceptions`', (detail) =>
      warning('urgent exceptions', detail),
    ),
  ]
}

function inWords(error: unknown): string {
  if (error instanceof Fault) return `${error.code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
