import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../facts/fault.ts'
import type { Register } from '../command.ts'
import { CONFIG_TEMPLATE } from '../config-template.ts'

export const registerInit: Register = (program, act) => {
  const command = program
    .command('init')
    .description('write a commented paidonce.config.ts here')
    .option('--force', 'replace one that is there')
  act<{ readonly force?: boolean }>(command, async (context, { force }) => {
    const file = join(process.cwd(), 'paidonce.config.ts')
    try {
      await writeFile(file, CONFIG_TEMPLATE, { flag: force ? 'w' : 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      throw new Fault('config_invalid', `${file} is there already. Change it, or replace it with --force.`)
    }
    context.answer(
      { file },
      () => `Wrote ${file}. Set STRIPE_WEBHOOK_SECRET, then run \`paidonce doctor\`.\n`,
    )
    return 0
  })
}
