import type { Register } from '../command.ts'
import { list } from '../table.ts'

export const registerMigrate: Register = (program, act) => {
  const command = program
    .command('migrate')
    .description('bring the schema of the database up to this release; safe to run again and at once')
  act(command, async (context) => {
    const { installation, database } = await context.open({ migrate: true })
    const { mode, buckets, epoch } = installation
    const { schema, driver } = database
    context.answer({ driver, schema, mode, buckets, epoch }, () =>
      list([
        ['schema', `${schema} (${driver}) is up to date`],
        ['mode', mode],
        ['buckets', buckets],
        ['epoch', epoch],
      ]),
    )
    return 0
  })
}
