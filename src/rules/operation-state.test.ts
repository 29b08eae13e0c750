import { describe, expect, it } from 'vitest'
import {
  isOpen,
  nextOperationState,
  type OperationEvent,
  type OperationState,
  statesTaking,
} from './operation-state.ts'

const STATES: readonly OperationState[] = [
  'planned',
  'in_flight',
  'succeeded',
  'failed_definitive',
  'unknown',
  'abandoned',
  'superseded',
]

describe('the states of an operation', () => {
  it.each<[OperationState, OperationEvent, OperationState | null]>([
    ['planned', 'send', 'in_flight'],
    ['planned', 'drop', 'superseded'],
    ['planned', 'decline', null],
    ['in_flight', 'accept', 'succeeded'],
    ['in_flight', 'decline', 'failed_definitive'],
    ['in_flight', 'lose_answer', 'unknown'],
    ['in_flight', 'send', null],
    ['in_flight', 'abandon', null],
    ['unknown', 'send', 'in_flight'],
    ['unknown', 'decline', 'failed_definitive'],
    ['unknown', 'proved_absent', 'planned'],
    ['unknown', 'say_failed', 'failed_definitive'],
    ['unknown', 'drop', null],
    ['unknown', 'retry', null],
    ['failed_definitive', 'retry', 'planned'],
    ['failed_definitive', 'send', null],
    ['abandoned', 'retry', null],
    ['succeeded', 'told_failed', 'succeeded'],
    ['succeeded', 'decline', null],
    ['succeeded', 'abandon', null],
  ])('%s, %s: %s', (state, event, next) => {
    expect(nextOperationState(state, event)).toBe(next)
  })

  it('P37 lets what is unknown end only by evidence or by a person, never by time', () => {
    const leaving = (
      [
        'send',
        'hold_back',
        'lose_answer',
        'drop',
        'retry',
        'accept',
        'decline',
        'told_done',
        'told_failed',
      ] as const
    ).filter((event) => {
      const next = nextOperationState('unknown', event)
      return next !== null && !isOpen(next)
    })
    expect(leaving).toEqual(['accept', 'decline', 'told_done', 'told_failed'])
  })

  it('takes evidence that it was done in every state', () => {
    expect(statesTaking('told_done').sort()).toEqual([...STATES].sort())
    for (const state of STATES) expect(nextOperationState(state, 'told_done')).toBe('succeeded')
  })

  it('begins another attempt only after a definitive no or where nothing was sent', () => {
    expect(statesTaking('retry').sort()).toEqual(['failed_definitive', 'superseded'])
    expect(statesTaking('send').sort()).toEqual(['planned', 'unknown'])
  })
})
