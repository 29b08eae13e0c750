/** What `paidonce init` writes. */
export const CONFIG_TEMPLATE = `// PaidOnce reads this file for every command. Secrets come from the environment and never stand here.
import { stripe } from 'paidonce/stripe'

/** @type {import('paidonce').PaidOnceOptions} */
export default {
  // 'test' or 'live'. A database belongs to one of them for ever: test events never grant anything in a live one.
  mode: 'test',

  // A PostgreSQL server, version 14 or later. Without a URL the embedded database in ./.paidonce is used: nothing to
  // install, one process at a time, survives a crash of the process but not a loss of power.
  database: process.env.DATABASE_URL,

  // One receiving address per entry: this one is /webhooks/stripe. Give it to the provider, with your host before it.
  endpoints: {
    stripe: stripe({
      // The signing secret of the webhook endpoint, not an API key. Two while you rotate: ['new', 'old'].
      webhookSecrets: process.env.STRIPE_WEBHOOK_SECRET ?? '',
    }),
  },

  // Your own tables, in the same transaction that records the payment: either both are committed, or neither is.
  // Database work only, since it may run again when the transaction is repeated. \`change.state\` is what holds now:
  // granted, suspended, revoked, expired or none.
  //
  // onEntitlement: async (change, tx) => {
  //   await tx.query('update accounts set plan = $2 where order_no = $1', [change.order, change.state])
  // },

  // Orders that PaidOnce asks for when a payment names one that nobody registered. Or register each at checkout:
  // \`paidonce.orders.register({ ... })\`, or \`paidonce orders create\`.
  //
  // findOrders: async (references, tx) => {
  //   const { rows } = await tx.query('select no, cents, currency from orders where no = any($1)', [references])
  //   return new Map(rows.map((row) => [row.no, {
  //     amount_minor: BigInt(row.cents), currency: row.currency, items: [{ item: 'course', quantity: 1 }],
  //   }]))
  // },

  // What happens outside the database, after the commit: mails, calls to other services. Each is tried until it
  // succeeds and may come twice after a crash, so give \`effect.key\` on as the idempotency key.
  //
  // effects: {
  //   'entitlement.changed': async (effect) => { /* set this item to effect.payload.state */ },
  //   'receipt.due': async (effect) => { /* send the receipt of order effect.order */ },
  //   'exception.opened': async (effect) => { /* tell a person: effect.payload.message */ },
  // },

  // Who is told of what a person must decide: \`import { email, slack } from 'paidonce'\`. docs/exceptions.md has more.
  //
  // alerts: {
  //   routes: [{ to: slack({ url: process.env.SLACK_WEBHOOK_URL ?? '' }) }],
  //   quiet: { from: '22:00', to: '07:00', zone: 'Europe/Berlin' },
  // },
}
`
