import { errorCode } from '../store/driver-fault.ts'

const IN_FAILED_TRANSACTION = '25P02'

/**
 * Waits for statements that share a transaction, each of them, and throws what made it fail: once one statement has
 * failed all later ones do, and their complaint may be heard before its own. Gives their results in order.
 */
export async function allOf<const Running extends readonly unknown[]>(
  running: Running,
): Promise<{ -readonly [Place in keyof Running]: Awaited<Running[Place]> }> {
  const ended = await Promise.allSettled(running)
  const errors = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  if (errors.length > 0) throw errors.find((error) => errorCode(error) !== IN_FAILED_TRANSACTION) ?? errors[0]
  return ended.map((end) => (end as PromiseFulfilledResult<unknown>).value) as {
    -readonly [Place in keyof Running]: Awaited<Running[Place]>
  }
}
