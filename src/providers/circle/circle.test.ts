import { expect, it } from 'vitest'

it('x', () => expect(1).toBe(1))
