import { inTransaction } from '../store/in-transaction.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import { Inquirer } from './find-out.ts'
import { Sender } from './send.ts'
import { type PerformContext, Workbench } from './workbench.ts'

export type { LookNow, PerformBoundary } from './workbench.ts'

/** Takes one leased operation one step further. */
export class Performer {
  readonly #bench: Workbench
  readonly #sender: Sender
  readonly #inquirer: Inquirer

  constructor(context: PerformContext) {
    this.#bench = new Workbench(context)
    this.#sender = new Sender(this.#bench)
    this.#inquirer = new Inquirer(this.#bench, this.#sender)
  }

  async perform(bucket: number, row: OperationRow): Promise<void> {
    switch (row.state) {
      case 'planned':
        return this.#sender.send(bucket, row)
      case 'in_flight':
        // Its worker is gone, or was away for longer than its lease: nobody knows whether the request arrived.
        if (await this.#crashed(bucket, row))
          await this.#inquirer.findOut(bucket, { ...row, state: 'unknown' })
        return
      case 'unknown':
        return this.#inquirer.findOut(bucket, row)
      default:
        return this.#bench.tidy(bucket, row)
    }
  }

  async #crashed(bucket: number, row: OperationRow): Promise<boolean> {
    const reason = 'the process that sent it is gone'
    return inTransaction(this.#bench.database, (tx) =>
      this.#bench.move(tx, bucket, row, {
        state: 'unknown',
        from: ['in_flight'],
        due_at: this.#bench.after(this.#bench.context.lease_ms),
        code: '',
        reason,
        keeps_lease: true,
      }),
    )
  }
}
