import { Fault } from '../../facts/fault.ts'
import type { Register } from '../command.ts'
import { list } from '../table.ts'

const WORDS = {
  found: 'the answer was settled',
  not_found: 'the provider says that there is no such object',
  unavailable: 'the provider gave no answer; it is asked again by itself',
  refused: 'the provider does not answer us: see `paidonce exceptions`',
  unreadable: 'the answer has a shape that this release does not know: see `paidonce exceptions`',
} as const

export const registerLookup: Register = (program, act) => {
  const command = program
    .command('lookup <endpoint> <object> <id>')
    .description(
      'ask the provider about one object now and settle what it says: `lookup stripe payment_intent pi_1`',
    )
  act(command, async (context, _flags, endpoint = '', object = '', id = '') => {
    const paidonce = await context.open()
    if (!paidonce.endpoints.get(endpoint)?.provider.lookup) {
      throw new Fault(
        paidonce.endpoints.has(endpoint) ? 'lookup_unsupported' : 'not_found',
        paidonce.endpoints.has(endpoint)
          ? `Endpoint ${endpoint} has nothing to ask with. Give its provider the API credentials that its page under docs/providers/ names.`
          : `No endpoint ${endpoint} is configured. Configured: ${[...paidonce.endpoints.keys()].join(', ') || 'none'}.`,
      )
    }
    const outcome = await paidonce.lookup(endpoint, object, id)
    context.answer({ endpoint, object, id, outcome }, () =>
      list([
        ['asked', `${endpoint} about ${object} ${id}`],
        ['outcome', outcome === null ? 'no answer yet; it is settled when it comes' : WORDS[outcome]],
      ]),
    )
    return outcome === 'found' ? 0 : 1
  })
}
