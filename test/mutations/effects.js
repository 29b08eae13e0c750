// Known bugs of the outbox.

const LEASES = 'src/effects/leases.test.ts'
const ATTEMPT = 'src/effects/attempt.ts'
const LEASE = 'src/store/queries/lease-effects.ts'

/** @type {readonly import('./list.js').Mutation[]} */
export const EFFECTS = [
  {
    id: 'case-53',
    bug: 'what its lease no longer covers is begun all the same',
    file: ATTEMPT,
    find: 'return this.#options.now_ms() >= held.lease_end_ms',
    replace: 'return held.lease_end_ms < 0',
    test: LEASES,
    name: 'on PostgreSQL case-53 does not begin',
    database: true,
  },
  {
    id: 'case-53',
    bug: 'leases are not renewed',
    file: 'src/store/queries/renew-effects.ts',
    find: 'set available_at = $4\n',
    replace: 'set available_at = least(available_at, $4)\n',
    test: LEASES,
    name: 'on PostgreSQL keeps the lease of a long delivery',
    database: true,
  },
  {
    id: 'case-53',
    bug: 'attempts are counted when they end',
    file: LEASE,
    find: 'set attempts = e.attempts + 1, lease_token',
    replace: 'set lease_token',
    test: LEASES,
    name: 'on PostgreSQL case-53 a lease shorter',
    database: true,
  },
  {
    id: 'case-53',
    bug: 'whoever acknowledges is believed to hold the lease',
    file: 'src/store/queries/finish-effects.ts',
    find: " and e.lease_token = f.token and e.state = 'due'",
    replace: '',
    test: LEASES,
    name: 'on PostgreSQL case-53 refuses and counts',
    database: true,
  },
  {
    id: 'case-56',
    bug: 'a connection is held while a receiver is slow',
    file: ATTEMPT,
    find: 'const context = { signal: held.abort.signal }\n',
    replace:
      'const context = { signal: held.abort.signal }\n      const tx = await this.#options.database.begin()\n      setTimeout(() => tx.rollback(), 8_000)\n',
    test: LEASES,
    name: 'case-56',
    database: true,
  },
  {
    id: 'case-57',
    bug: 'an effect that always fails is tried for ever',
    file: ATTEMPT,
    find: 'if (hopeless || attempt === attempts_max)',
    replace: 'if (hopeless)',
    test: 'src/effects/poison.test.ts',
    name: 'on PostgreSQL.*case-57',
    database: true,
  },
  {
    id: 'case-57',
    bug: 'what fails holds back everything after it',
    file: LEASE,
    find: '(select * from effects where subject_id = e.subject_id and bucket = $1 offset 0) b\n          where b.lane = e.lane and ',
    replace:
      '(select * from effects where bucket = $1 offset 0) b\n          where b.id < e.id and b.attempts > 0 and b.lease_token is null or b.lane = e.lane and b.subject_id = e.subject_id and ',
    test: 'src/effects/poison.test.ts',
    name: 'on PostgreSQL.*case-57',
    database: true,
  },
  {
    id: 'P34',
    bug: 'a later change overtakes an earlier one of its order',
    file: LEASE,
    find: "b.state = 'due' and b.seq < e.seq",
    replace: "b.state = 'dead' and b.seq < e.seq",
    test: 'src/effects/order.test.ts',
    name: 'on PostgreSQL P34 keeps the order of a subject',
    database: true,
  },
]
