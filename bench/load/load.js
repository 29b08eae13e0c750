// One measured stretch of load: deliveries sent in order over connections that stay open.
import { driveWithAutocannon } from './autocannon.js'
import { driveWithWrk, wrkVersion } from './wrk.js'

export const PATH = '/webhooks/stripe'

/**
 * `sent`: requests sent; more than there were deliveries when it had to begin anew. `answered`: complete answers,
 * of which `not_ok` had a status of 400 or above (autocannon: other than 2xx). `lost`: connections refused, broken or timed out.
 * @typedef {{ sent: number, answered: number, not_ok: number, lost: number, duration_ms: number,
 *   p50_ms: number, p99_ms: number, max_ms: number }} Stretch
 * @typedef {{ port: number, deliveries: import('../traffic.js').Delivery[], connections: number, duration_ms: number }} Load
 * @typedef {(load: Load) => Promise<Stretch>} Drive
 */

/**
 * @param {'wrk' | 'autocannon' | undefined} wanted wrk where it is installed, unless the other is asked for
 * @returns {{ name: string, drive: Drive }}
 */
export function chooseGenerator(wanted) {
  const version = wanted === 'autocannon' ? null : wrkVersion()
  if (version !== null) return { name: version, drive: driveWithWrk }
  if (wanted === 'wrk')
    throw new Error('wrk is not on the PATH: install it, or leave --generator out to use autocannon')
  return { name: 'autocannon', drive: driveWithAutocannon }
}
