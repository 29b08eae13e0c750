import { type Deliverer, discard } from './outcome.ts'

/** Handlers by topic; `'*'` takes the topics that have none. */
export type Handlers = Readonly<Record<string, Deliverer>>

/**
 * Delivers by calling functions in this process. A topic without a handler goes to `otherwise`; by default it is
 * discarded, with that as its reason.
 */
export function functions(handlers: Handlers, otherwise: Deliverer = nobodyWaits): Deliverer {
  const byTopic = new Map(Object.entries(handlers))
  return (effect, context) => {
    const handler = byTopic.get(effect.topic) ?? byTopic.get('*') ?? otherwise
    return handler(effect, context)
  }
}

const nobodyWaits: Deliverer = (effect) => discard(`no handler is configured for ${effect.topic}`)
