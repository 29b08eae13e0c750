import { describe, expect, it } from 'vitest'
import { functions } from './functions.ts'
import { log } from './log.ts'
import { type Deliverer, discard } from './outcome.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'
import { route } from './route.ts'

const context = { signal: new AbortController().signal }

function about(topic: string): OutgoingEffect {
  return {
    key: 'effect_1_5',
    id: 5n,
    tenant: 'default',
    topic,
    lane: 'messages',
    item: '-',
    subject: { kind: 'order', key: 'A-1' },
    order: 'A-1',
    cause: 'order',
    revision: 0,
    epoch: 1n,
    attempt: 2,
    created_at: new Date('2026-01-02T00:00:00Z'),
    payload: { amount_minor: '1999' },
  }
}

const named =
  (name: string): Deliverer =>
  (effect) =>
    `${name} ${effect.topic}`

describe('functions', () => {
  it('calls the handler of the topic, else the one for the rest', () => {
    const deliver = functions({ 'receipt.due': named('receipt'), '*': named('rest') })
    expect(deliver(about('receipt.due'), context)).toBe('receipt receipt.due')
    expect(deliver(about('exception.opened'), context)).toBe('rest exception.opened')
  })

  it('gives a topic without a handler to the deliverer named for that, else discards it with the reason', () => {
    expect(functions({}, named('log'))(about('receipt.due'), context)).toBe('log receipt.due')
    expect(functions({})(about('receipt.due'), context)).toEqual(
      discard('no handler is configured for receipt.due'),
    )
  })

  it('has no handler for the names that every object has', () => {
    expect(functions({})(about('constructor'), context)).toEqual(
      discard('no handler is configured for constructor'),
    )
  })
})

describe('route', () => {
  it('sends each topic its own way and the rest the common one', () => {
    const deliver = route({ topics: { 'receipt.due': named('mail') }, otherwise: named('http') })
    expect(deliver(about('receipt.due'), context)).toBe('mail receipt.due')
    expect(deliver(about('toString'), context)).toBe('http toString')
  })
})

describe('log', () => {
  it('writes one line of JSON per effect', async () => {
    const lines: string[] = []
    await log((line) => lines.push(line))(
      { ...about('receipt.due'), payload: { note: 'two\nlines' } },
      context,
    )
    expect(lines).toEqual([
      '{"key":"effect_1_5","id":"5","tenant":"default","topic":"receipt.due","lane":"messages","item":"-",' +
        '"subject":{"kind":"order","key":"A-1"},"order":"A-1","cause":"order","revision":0,"epoch":"1","attempt":2,' +
        '"created_at":"2026-01-02T00:00:00.000Z","payload":{"note":"two\\nlines"}}\n',
    ])
  })

  it('fails when its writer fails, so that the effect is tried again', async () => {
    const deliver = log(() => Promise.reject(new Error('disk full')))
    await expect(deliver(about('receipt.due'), context)).rejects.toThrow('disk full')
  })
})
