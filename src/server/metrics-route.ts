import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { PaidOnce } from '../paidonce.ts'

/** How often the invariants, which walk whole tables, are looked at anew. */
const INVARIANTS_EVERY_MS = 3_600_000

const GAUGES = {
  exceptions_open: ['What waits for a person', 'kind', 'severity'],
  effects_due: ['Effects that wait to be delivered'],
  effects_oldest_due_seconds: ['How long the oldest effect that could be delivered has waited'],
  unsettled: ['Marks: kept, to be settled later'],
  lookups_due: ['Questions that providers should have been asked by now'],
  unconfirmed: ['Messages that their provider still has to confirm'],
  reconciliation_breaks_open: ['Differences with a provider that are open', 'endpoint', 'class'],
  reconciliation_last_success_seconds: [
    'When a reconciliation last came to its end, Unix seconds',
    'endpoint',
  ],
  operations_open: ['Charges and refunds without an outcome', 'kind', 'state'],
} as const

/**
 * `GET /metrics` for Prometheus: figures, labelled by the names of endpoints, kinds and states. No id of an order, a
 * payment or a person stands in it.
 */
export function metricsRoute(app: FastifyInstance, paidonce: PaidOnce): void {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const backlog = new Gauge({
    name: 'paidonce_backlog',
    help: 'Deliveries that wait for their commit',
    registers,
  })
  const answered = new Counter({
    name: 'paidonce_deliveries_total',
    help: 'Deliveries answered by this process, by what became of them',
    labelNames: ['endpoint', 'outcome'],
    registers,
  })
  const invariants = new Gauge({
    name: 'paidonce_invariant_broken',
    help: 'Rows that break what must always hold, as last looked at; 0 is well',
    labelNames: ['invariant'],
    registers,
  })
  const gauges = new Map(
    Object.entries(GAUGES).map(([name, [help, ...labels]]) => [
      name,
      { labels, gauge: new Gauge({ name: `paidonce_${name}`, help, labelNames: labels, registers }) },
    ]),
  )
  const look = lookNowAndThen(paidonce)

  app.get('/metrics', async (_request, reply) => {
    backlog.set(paidonce.backlog)
    answered.reset()
    for (const { endpoint, outcome, count } of paidonce.tally.counts())
      answered.inc({ endpoint, outcome }, count)
    for (const { gauge } of gauges.values()) gauge.reset()
    for (const { gauge: name, label, detail, value } of await paidonce.gauges()) {
      const { gauge, labels } = gauges.get(name)!
      const values = [label, detail]
      gauge.inc(Object.fromEntries(labels.map((labelName, at) => [labelName, values[at]!])), value)
    }
    for (const [invariant, count] of Object.entries(look())) invariants.set({ invariant }, count)
    return reply.header('content-type', registry.contentType).send(await registry.metrics())
  })
}

/** The newest counts; when they are old, new ones are on their way for the next time. */
function lookNowAndThen(paidonce: PaidOnce): () => Readonly<Record<string, number>> {
  let counts: Readonly<Record<string, number>> = {}
  let looked_ms = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - looked_ms > INVARIANTS_EVERY_MS) {
      looked_ms = performance.now()
      paidonce.invariants().then(
        (report) => {
          counts = report.counts
        },
        // The database is away, which /readyz tells; the next time is the next try.
        () => {
          looked_ms = Number.NEGATIVE_INFINITY
        },
      )
    }
    return counts
  }
}
