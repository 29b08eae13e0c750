/**
 * The one interface to PostgreSQL, whether a server reached through `pg` or PGlite inside this process.
 * Statements are constants with a name, so that a server prepares each once per connection.
 */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** A parameter: bigint goes as decimal text, Date as timestamptz, Buffer as bytea, objects never (encode JSON yourself). */
export type Parameter =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Uint8Array
  | readonly (string | number | bigint | boolean | null | Date | Uint8Array)[]

/**
 * Values come back alike from both drivers: int2/int4/float8 as number, int8 as bigint, numeric as string,
 * timestamptz as Date, bytea as Buffer, json/jsonb parsed, arrays as arrays of these.
 */
export interface Queryable {
  /**
   * Runs one statement and gives its rows. Several may be started without awaiting: they run in the order in which
   * they were started, and on a server they share round trips. Every returned promise must be awaited.
   */
  query<Row = Record<string, unknown>>(statement: Statement, values?: readonly Parameter[]): Promise<Row[]>
}

export interface Transaction extends Queryable {
  /** Runs several statements given as one text, without parameters, inside this transaction; used by migrations and savepoints. */
  script(sql: string): Promise<void>
  /** Commits; resolves only when the command tag was COMMIT. Throws Fault `commit_failed` when it was ROLLBACK, and the driver's error when the outcome is unknown. */
  commit(): Promise<void>
  /** Rolls back; never throws. A connection that cannot roll back is destroyed. */
  rollback(): Promise<void>
  /** Destroys the connection under this transaction, so that nothing can run on it any more (pg); on PGlite it rolls back and refuses further queries. */
  destroy(): Promise<void>
  /** True once a commit, rollback or destroy has been asked for. */
  readonly finished: boolean
}

export interface Database extends Queryable {
  readonly driver: 'postgres' | 'pglite'
  /** How many transactions may usefully be open at once: the pool's size, or 1 for PGlite. */
  readonly concurrency: number
  /** The schema of our tables. Drivers put it first on the search path, so statements name tables without it. */
  readonly schema: string
  /**
   * The search path as the user configured it, ready for `set local search_path to ...`: a hook that runs the user's own
   * statements in our transaction needs it, or their table `orders` would be ours.
   */
  readonly user_search_path: string
  /** Opens a READ COMMITTED transaction on a connection of its own. Throws Fault `database_unavailable` or `database_busy`. */
  begin(options?: { readonly lock_timeout_ms?: number }): Promise<Transaction>
  /** Runs several statements given as one script, without parameters; used by migrations. */
  script(sql: string): Promise<void>
  /** Calls back when another session notifies this channel. A hint only; may be lost. Resolves to a function that stops it. */
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}
