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
