import type { Deliverer } from './outcome.ts'

export interface Routes {
  /** A deliverer for each topic that goes its own way. */
  readonly topics: Readonly<Record<string, Deliverer>>
  /** Takes all other topics. */
  readonly otherwise: Deliverer
}

/** Sends each topic to the deliverer chosen for it. */
export function route(routes: Routes): Deliverer {
  const topics = new Map(Object.entries(routes.topics))
  return (effect, context) => (topics.get(effect.topic) ?? routes.otherwise)(effect, context)
}
