// Speed counts only for what was really recorded: after a run the database must hold exactly what was sent.
import pg from 'pg'
import { PATH } from './load/load.js'
import { referenceOf } from './traffic.js'

const QUERIES = {
  plain: {
    events: 'select event_id as key from webhook_events',
    payments: 'select order_id as key from payments',
    entitlements: 'select order_id as key from entitlements',
    effects: 'select count(*) as n from outbox',
    licences: 'select count(*) as n from merchant_licences',
  },
  paidonce: {
    events: "select event_key as key from events where state = 'settled'",
    payments: 'select unnest(order_refs) as key from payments where linked_to is null',
    entitlements: `select o.reference as key from entitlements e join orders o on o.id = e.order_id and o.bucket = e.bucket
      where e.state = 'granted' and o.net_minor = o.amount_minor`,
    effects: "select count(*) as n from effects where topic = 'entitlement.changed'",
    licences: 'select count(*) as n from merchant_licences',
  },
}

/**
 * Sends again what the end of a stretch cut off, as a provider does, then compares.
 * @param {import('./scenario.js').Contestant} contestant
 * @returns {Promise<string[]>} what differs; empty when the run is good
 */
export async function prove({ receiver, database_url, supply, may_be_cut_off, hook }) {
  const queries = QUERIES[receiver.name]
  const client = new pg.Client({ connectionString: database_url })
  await client.connect()
  if (receiver.name === 'paidonce') await client.query('set search_path to paidonce, public')
  try {
    const stored = await keys(client, queries.events)
    const missing = [...supply.sent.values()].filter(({ event }) => !stored.has(event))
    if (missing.length > may_be_cut_off) {
      return [
        `${missing.length} of ${supply.sent.size} events are not stored; at most ${may_be_cut_off} were cut off`,
      ]
    }
    await redeliver(receiver.port, missing)
    return await differences(client, queries, supply, hook)
  } finally {
    await client.end()
  }
}

async function redeliver(port, deliveries) {
  await Promise.all(
    deliveries.map(async ({ body, signature }) => {
      const headers = { 'content-type': 'application/json', 'stripe-signature': signature }
      const answer = await fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', headers, body })
      await answer.arrayBuffer()
    }),
  )
}

async function differences(client, queries, supply, hook) {
  const events = new Set()
  const payments = new Set()
  const entitlements = new Set()
  for (const { event, order, paid } of supply.sent.values()) {
    events.add(event)
    payments.add(referenceOf(order))
    if (paid) entitlements.add(referenceOf(order))
  }
  const found = []
  for (const [noun, due] of Object.entries({ events, payments, entitlements })) {
    const have = await keys(client, queries[noun])
    const missing = [...due].filter((key) => !have.has(key)).length
    if (missing > 0 || have.size !== due.size)
      found.push(`${noun}: ${due.size} due, ${have.size} stored, ${missing} missing`)
  }
  for (const noun of hook ? ['effects', 'licences'] : ['effects']) {
    const have = Number((await client.query(queries[noun])).rows[0].n)
    if (have !== entitlements.size) found.push(`${noun}: ${entitlements.size} due, ${have} stored`)
  }
  return found
}

async function keys(client, text) {
  const { rows } = await client.query({ text, rowMode: 'array' })
  const set = new Set(rows.map(([key]) => key))
  if (set.size !== rows.length) throw new Error(`stored twice: ${rows.length - set.size} rows of "${text}"`)
  return set
}
