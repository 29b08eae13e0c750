import { audit } from '../src/audit/audit.ts'
import type { StripeFake } from '../src/providers/stripe/fake.ts'
import { providerKey } from '../src/rules/operation-key.ts'
import type { Database } from '../src/store/database.ts'

/** What each refund gives back and what each charge takes, minor units. */
export const REFUND_MINOR = 700n
export const CHARGE_MINOR = 2_000n

interface AtStripe {
  readonly id: string
  readonly metadata?: Readonly<Record<string, string>>
}

/** What the stand-in did under each key that we gave it. */
export interface Books {
  readonly refunds: ReadonlyMap<string, readonly string[]>
  readonly charges: ReadonlyMap<string, readonly string[]>
  readonly declined: ReadonlyMap<string, readonly string[]>
}

/** The key in what a webhook of the stand-in tells; undefined where it is not ours. */
export function keyTold(body: string): string | undefined {
  const event = JSON.parse(body) as { data: { object: AtStripe } }
  return event.data.object.metadata?.paidonce_operation
}

/** For those who look only at our own side. */
export const NO_BOOKS: Books = { refunds: new Map(), charges: new Map(), declined: new Map() }

/** Reads the stand-in's books. */
export function readBooks(fake: StripeFake): Books {
  const done = new Map<string, Map<string, string[]>>()
  for (const body of fake.webhooks()) {
    const { type, data } = JSON.parse(body) as { type: string; data: { object: AtStripe } }
    const key = data.object.metadata?.paidonce_operation
    if (key === undefined) continue
    const ids = done.get(type) ?? new Map<string, string[]>()
    done.set(type, ids.set(key, [...(ids.get(key) ?? []), data.object.id]))
  }
  const of = (type: string) => done.get(type) ?? new Map<string, string[]>()
  return {
    refunds: of('refund.created'),
    charges: of('payment_intent.succeeded'),
    declined: of('payment_intent.payment_failed'),
  }
}

interface Row {
  readonly key: string
  readonly tenant: string
  readonly kind: 'refund' | 'charge'
  readonly state: string
  readonly provider_id: string
  readonly attempt: number
  readonly raised: boolean
  readonly recorded: boolean
}

const OPERATIONS = `
  select o.operation_key as key, o.tenant, o.kind, o.state, o.provider_id, o.attempt,
    exists (select 1 from exceptions e where e.state = 'open' and e.subject_kind = 'operation'
      and e.subject_key = o.operation_key and e.kind = 'operation_unknown') as raised,
    case o.kind
      when 'refund' then exists (select 1 from refunds r where r.provider_refund_id = o.provider_id
        and r.amount_minor = ${REFUND_MINOR} and r.status = 'succeeded')
      else exists (select 1 from payments p where p.provider_payment_id = o.provider_id
        and p.captured_minor = ${CHARGE_MINOR} and p.status = 'succeeded')
    end as recorded
  from operations o`

export interface Standing {
  /** How many stand in each state. */
  readonly states: Readonly<Record<string, number>>
  /** Those that are not over. */
  readonly open: readonly string[]
  /** Those of them about which a person was told. */
  readonly told: readonly string[]
  /** What must not be, in words. */
  readonly wrong: readonly string[]
}

/** Holds our operations against the stand-in's books, as they stand now. */
export async function holdAgainst(database: Database, books: Books): Promise<Standing> {
  const rows = await database.query<Row>({ name: '', text: OPERATIONS })
  const states: Record<string, number> = {}
  const wrong: string[] = []
  const ours = new Set<string>()
  for (const row of rows) {
    states[row.state] = (states[row.state] ?? 0) + 1
    const keys = Array.from({ length: row.attempt }, (_, index) =>
      providerKey(row.tenant, row.key, index + 1),
    )
    for (const key of keys) ours.add(key)
    const did = row.kind === 'refund' ? books.refunds : books.charges
    const made = keys.flatMap((key) => did.get(key) ?? [])
    const problem = problemOf(
      row,
      made,
      keys.some((key) => books.declined.has(key)),
    )
    if (problem !== null) wrong.push(`${row.key} is ${row.state}: ${problem}`)
  }
  for (const key of [...books.refunds.keys(), ...books.charges.keys()])
    if (!ours.has(key)) wrong.push(`something was done under ${key}, which is no key of ours`)
  return {
    states,
    open: rows.filter(({ state }) => OPEN.has(state)).map(({ key }) => key),
    told: rows.filter(({ state, raised }) => OPEN.has(state) && raised).map(({ key }) => key),
    wrong,
  }
}

const OPEN: ReadonlySet<string> = new Set(['planned', 'in_flight', 'unknown'])

function problemOf(row: Row, made: readonly string[], declined: boolean): string | null {
  if (made.length > 1) return `it was done ${made.length} times (${made.join(', ')})`
  switch (row.state) {
    case 'succeeded':
      if (made.length === 0) return 'it was never done'
      if (made[0] !== row.provider_id) return `${made[0]} was made, and ${row.provider_id} is said to be`
      return row.recorded ? null : `the facts do not tell of ${row.provider_id}`
    case 'failed_definitive':
      if (made.length > 0) return `it was done (${made.join(', ')})`
      return declined ? null : 'nobody said no'
    case 'planned':
      return made.length === 0 ? null : `it was done (${made.join(', ')})`
    case 'in_flight':
    case 'unknown':
      return null
    default:
      return 'nobody gave it up, and nothing made it needless'
  }
}

/** Sums that must agree with the books when all is over and told, and what the audit finds. In words what differs. */
export async function sumsAgainst(database: Database, books: Books): Promise<string[]> {
  const [sums] = await database.query<Record<string, string>>({
    name: '',
    text: `select
      (select coalesce(sum(refunded_minor), 0)::text from payments) as refunded,
      (select count(*)::text from refunds) as refunds,
      (select count(distinct subject_id)::text from facts where kind = 'refund_milestone') as told,
      (select count(*)::text from orders where reference like 'owed-%' and net_minor = ${CHARGE_MINOR}) as paid,
      (select count(*)::text from orders where reference like 'owed-%' and net_minor not in (0, ${CHARGE_MINOR})) as odd,
      (select count(*)::text from unsettled) as unsettled`,
  })
  const wanted = {
    refunded: BigInt(books.refunds.size) * REFUND_MINOR,
    refunds: books.refunds.size,
    paid: books.charges.size,
    odd: 0,
    unsettled: 0,
  }
  const differing = Object.entries(wanted).filter(([name, value]) => sums![name] !== String(value))
  const raised = await database.query<{ message: string }>({
    name: '',
    text: `select kind || ' about ' || subject_key || ' is still open: ' || message as message
      from exceptions where state = 'open' and subject_kind = 'operation' order by subject_key`,
  })
  const { differences_total } = await audit(database)
  return [
    ...differing.map(([name, value]) => `${name}: ${sums![name]} instead of ${value}`),
    ...raised.map(({ message }) => message),
    ...(differences_total === 0 ? [] : [`the audit finds ${differences_total} differences`]),
  ]
}
