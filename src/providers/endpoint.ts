import type { Mode } from '../facts/event.ts'
import type { Provider } from './contract.ts'

/** One configured receiving address. */
export interface Endpoint {
  /** Its name, the last part of its path: `/webhooks/<name>`. */
  readonly name: string
  readonly provider: Provider
  readonly tenant: string
  /** Bucket of the tenant. */
  readonly bucket: number
  /** The mode of the database behind it. */
  readonly mode: Mode
}
