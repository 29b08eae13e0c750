/**
 * Thrown inside a translation when an authentic message has no shape that we know; the adapter turns it into the
 * outcome `unreadable`. The reason names fields, never their personal content.
 */
export class Unreadable extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Unreadable'
  }
}

/** What to keep as the reason; of errors that are not ours only the name, since their message may quote the body. */
export function unreadableReason(error: unknown): string {
  if (error instanceof Unreadable) return error.message
  return `reading it failed with ${error instanceof Error ? error.name : 'a thrown value'}`
}
