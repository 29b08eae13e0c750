import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../src/store/migrate.ts'
import { openPostgres } from '../src/store/postgres.ts'
import { pgliteTemplate } from './pglite-template.ts'
import { startPostgres } from './postgres-server.ts'

export { type PostgresServer, type PostgresServerOptions, startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server on which tests make their databases: TEST_DATABASE_URL, or one started for this run. */
    postgresUrl: string
    /** A migrated database on it, to be cloned. */
    postgresTemplate: string
    /** The file of a fresh data directory for PGlite. */
    pgliteTemplate: string
  }
}

/** Prepares the databases of a test run. It never uses a server that merely happens to be there. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  const server = given === undefined ? await startPostgres({ fsync: false }) : undefined
  try {
    const url = given ?? server!.url()
    const template = `paidonce_template_${randomUUID().replaceAll('-', '')}`
    await createTemplate(url, template)
    project.provide('postgresUrl', url)
    project.provide('postgresTemplate', template)
    project.provide('pgliteTemplate', await pgliteTemplate())
    return async () => {
      if (server === undefined) await administer(url, `drop database if exists ${template}`)
      else await server.remove()
    }
  } catch (error) {
    await server?.remove()
    throw error
  }
}

async function createTemplate(url: string, template: string): Promise<void> {
  await administer(url, `create database ${template}`)
  const database = await openPostgres({ url: withDatabase(url, template), max: 1 })
  await migrate(database, { mode: 'test', now: new Date('2026-01-01T00:00:00Z') })
  await database.close()
}

/** The same server's URL with another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** Runs one command outside any of the drivers under test. */
export async function administer(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
