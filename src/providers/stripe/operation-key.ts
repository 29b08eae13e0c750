import { textIn } from '../field.ts'

/** Metadata key under which what we asked for carries our operation's key, so that it can be told from others for ever. */
export const OPERATION = 'paidonce_operation'

/** The key under which we asked for this object; undefined for anybody else's. */
export function operationKey(object: unknown): string | undefined {
  return textIn(object, 'metadata', OPERATION)
}
