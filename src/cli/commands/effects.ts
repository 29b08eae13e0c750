import { discardEffect, retryEffect } from '../../effects/decide-effect.ts'
import { type ListedEffect, listEffects } from '../../store/queries/list-effects.ts'
import { type CommandContext, type Register, WrongUsage, wholeNumber } from '../command.ts'
import { table, time } from '../table.ts'

interface EffectFlags {
  readonly state?: string
  readonly topic?: string
  readonly order?: string
  readonly limit: number
}

interface DecisionFlags {
  readonly actor?: string
  readonly reason?: string
  readonly bucket?: number
}

export const registerEffects: Register = (program, act) => {
  const effects = program.command('effects').description('the outbox: what leaves this database')
  const listed = effects
    .command('list')
    .description('effects, newest first')
    .option('--state <state>', 'due, done, dead, withdrawn, superseded or discarded')
    .option('--topic <topic>', 'entitlement.changed, right.changed, receipt.due or exception.opened')
    .option('--order <reference>', 'only those of this order')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 50)
  act<EffectFlags>(listed, async (context, { state, topic, order, limit }) => {
    const { database, installation } = await context.open()
    const rows: ListedEffect[] = []
    for (let bucket = 0; bucket < installation.buckets; bucket += 1) {
      rows.push(...(await listEffects(database, bucket, { state, topic, subject: order, limit })))
    }
    context.answer(rows, () => inWords(rows))
    return 0
  })
  const deciding = (name: 'retry' | 'discard', description: string) => {
    const command = effects
      .command(`${name} <id>`)
      .description(description)
      .option('--actor <name>', 'who decides (default: the user of this machine)')
      .option('--reason <text>', 'why; kept with the effect')
      .option('--bucket <n>', 'bucket of its tenant', wholeNumber(0), 0)
    act<DecisionFlags>(command, async (context, flags, id) => decide(context, name, id!, flags))
  }
  deciding('retry', 'give a dead or waiting effect another round of attempts, at once')
  deciding('discard', 'end a dead or waiting effect undone')
}

async function decide(
  context: CommandContext,
  name: 'retry' | 'discard',
  text: string,
  flags: DecisionFlags,
): Promise<0> {
  if (!/^\d{1,18}$/.test(text)) throw new WrongUsage(`an effect has a number, not ${JSON.stringify(text)}`)
  const { database } = await context.open()
  const decision = {
    id: BigInt(text),
    bucket: flags.bucket ?? 0,
    actor: flags.actor ?? process.env.USER ?? process.env.USERNAME ?? 'command line',
    reason: flags.reason ?? `paidonce effects ${name}`,
    now: new Date(context.now_ms()),
  }
  await (name === 'retry' ? retryEffect(database, decision) : discardEffect(database, decision))
  const done = name === 'retry' ? 'is due again' : 'is discarded'
  const state = name === 'retry' ? 'due' : 'discarded'
  context.answer({ id: decision.id, state }, () => `Effect ${text} ${done}.\n`)
  return 0
}

function inWords(rows: readonly ListedEffect[]): string {
  if (rows.length === 0) return 'No such effects.\n'
  return table(
    ['id', 'topic', 'subject', 'item', 'rev', 'state', 'attempts', 'created', 'last error'],
    rows.map((row) => [
      row.id,
      row.topic,
      row.subject_key,
      row.item,
      row.revision,
      row.state,
      row.attempts,
      time(row.created_at),
      row.last_error.slice(0, 60),
    ]),
  )
}
