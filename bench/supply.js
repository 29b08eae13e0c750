// The deliveries of one receiver in one scenario: made ahead, spent from the front, remembered for the proof.
import { deliveries } from './traffic.js'

/** @typedef {ReturnType<typeof createSupply>} Supply */

/** @param {Parameters<typeof deliveries>[0]} options */
export function createSupply(options) {
  let { shape } = options
  let stream = deliveries(options)
  /** @type {import('./traffic.js').Delivery[]} */
  let ready = []
  /** Event id to delivery, for everything that was sent. */
  const sent = new Map()
  let next_order = options.first ?? 0
  return {
    sent,
    /** From now on traffic of this shape, for orders that were not used yet. */
    use(wanted) {
      if (wanted === shape) return
      shape = wanted
      ready = []
      stream = deliveries({ ...options, shape, first: next_order })
    },
    /** The next `count` deliveries that were not sent yet. */
    ahead(count) {
      while (ready.length < count) {
        const delivery = stream.next().value
        if (delivery.order >= next_order) next_order = delivery.order + 1
        ready.push(delivery)
      }
      return ready.slice(0, count)
    },
    /** The number after that of the last order in what was made so far. */
    orders_end() {
      return next_order
    },
    spend(count) {
      for (const delivery of ready.slice(0, count)) sent.set(delivery.event, delivery)
      ready = ready.slice(count)
    },
  }
}
