import { Fault } from '../../facts/fault.ts'
import type { Database } from '../../store/database.ts'

/** A database that can be cut off from its user, as if that had been killed: nothing it says arrives any more. */
export interface CutOffDatabase extends Database {
  cut(): void
}

/** The embedded database has one owner, so a worker in it cannot be killed apart; this makes it as good as dead. */
export function cutOff(database: Database): CutOffDatabase {
  let gone = false
  const check = () => {
    if (gone) throw new Fault('database_unavailable', 'This worker was killed by the demo.')
  }
  return {
    driver: database.driver,
    concurrency: database.concurrency,
    schema: database.schema,
    user_search_path: database.user_search_path,
    query: async (statement, values) => {
      check()
      return database.query(statement, values)
    },
    begin: async (options) => {
      check()
      return database.begin(options)
    },
    script: async (sql) => {
      check()
      return database.script(sql)
    },
    listen: (channel, heard) => database.listen(channel, (payload) => (gone ? undefined : heard(payload))),
    close: async () => undefined,
    cut: () => {
      gone = true
    },
  }
}
