import { describe, expect, it } from 'vitest'
import { type SettleItem, settleItem } from '../settle/item.ts'
import type { SettleResult, Settler } from '../settle/settler.ts'
import { Batcher, type BatcherOptions } from './batcher.ts'

type End = (place: number, result: SettleResult) => void

/** A settler whose batches end when the test says so. */
class Held {
  readonly batches: { bucket: number; tenants: string[]; end: () => void }[] = []
  readonly context = { database: { driver: 'postgres' } }

  settleBatch(bucket: number, items: readonly SettleItem[], end: End): Promise<void> {
    return new Promise((resolve) => {
      const tenants = items.map(({ tenant }) => tenant)
      const all = () => {
        for (const place of items.keys()) end(place, { outcome: 'settled' })
        resolve()
      }
      this.batches.push({ bucket, tenants, end: all })
    })
  }
}

function batcher(options: BatcherOptions = {}) {
  const held = new Held()
  return { held, batcher: new Batcher(held as unknown as Settler, Date.now, { concurrency: 1, ...options }) }
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

function item(tenant: string, size = 0): SettleItem {
  const event = { event_key: tenant, body: new Uint8Array(size) } as never
  return settleItem({ tenant, event: size > 0 ? event : null })
}

describe('the batcher', () => {
  it('settles together what comes together, and fills the next batch meanwhile', async () => {
    const { held, batcher: front } = batcher({ batch_max: 3 })
    const results = ['a', 'b'].map((tenant) => front.submit(0, item(tenant)))
    await turn()
    results.push(...['c', 'd', 'e', 'f'].map((tenant) => front.submit(0, item(tenant))))
    await turn()
    expect(held.batches.map(({ tenants }) => tenants)).toEqual([['a', 'b']])
    for (let batch = 0; batch < 3; batch += 1) {
      held.batches[batch]!.end()
      await turn()
    }
    expect(held.batches.map(({ tenants }) => tenants)).toEqual([['a', 'b'], ['c', 'd', 'e'], ['f']])
    expect(await Promise.all(results)).toEqual(results.map(() => ({ outcome: 'settled' })))
    expect(front.held).toBe(0)
  })

  it('gives every bucket its turn, whoever sends more', async () => {
    const { held, batcher: front } = batcher({ batch_max: 2 })
    for (const tenant of ['a', 'a', 'a', 'a', 'a', 'a']) front.submit(1, item(tenant))
    front.submit(2, item('b'))
    for (let batch = 0; batch < 4; batch += 1) {
      await turn()
      held.batches[batch]!.end()
    }
    expect(held.batches.map(({ bucket }) => bucket)).toEqual([1, 2, 1, 1])
  })

  it('P12 refuses beyond its number of items and of bytes, and takes more when some have ended', async () => {
    const { held, batcher: front } = batcher({ queue_max: 2, queue_bytes_max: 100 })
    front.submit(0, item('a', 60))
    expect(await front.submit(0, item('b', 60))).toMatchObject({ fault: { code: 'queue_full' } })
    front.submit(0, item('c', 40))
    expect(await front.submit(0, item('d'))).toMatchObject({ fault: { code: 'queue_full' } })
    await turn()
    held.batches[0]!.end()
    const taken = front.submit(0, item('e', 100))
    await turn()
    held.batches[1]!.end()
    expect(await taken).toEqual({ outcome: 'settled' })
  })

  it('P12 closes when all that it holds has ended, and takes nothing more', async () => {
    const { held, batcher: front } = batcher()
    const taken = front.submit(0, item('a'))
    await turn()
    let closed = false
    const closing = front.close().then(() => {
      closed = true
    })
    expect(await front.submit(0, item('b'))).toMatchObject({ fault: { code: 'shutting_down' } })
    await turn()
    expect(closed).toBe(false)
    held.batches[0]!.end()
    await closing
    expect(await taken).toEqual({ outcome: 'settled' })
  })
})
