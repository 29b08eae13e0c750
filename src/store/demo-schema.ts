import { Fault } from '../facts/fault.ts'
import type { Database, Statement } from './database.ts'

const MARK = 'paidonce demo data; a new demo replaces them'

const FIND: Statement = {
  name: 'find-demo-schema',
  text: `select obj_description(oid, 'pg_namespace') as comment from pg_namespace where nspname = $1`,
}

/**
 * Makes an empty schema for a demo on a server. One that an earlier demo made is replaced.
 * Throws Fault `config_invalid` when the schema is somebody else's.
 */
export async function renewDemoSchema(database: Database): Promise<void> {
  const { schema } = database
  const [found] = await database.query<{ comment: string | null }>(FIND, [schema])
  if (found && found.comment !== MARK) {
    throw new Fault(
      'config_invalid',
      `The schema ${schema} of this database was not made by a demo, so the demo does not touch it. Name another with --schema, or another database.`,
    )
  }
  await database.script(
    `drop schema if exists ${schema} cascade; create schema ${schema}; comment on schema ${schema} is '${MARK}'`,
  )
}
