import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import { reconcileWithBreaks } from '../../test/injected-breaks.ts'
import { audit } from '../audit/audit.ts'

const EACH = 4

withDatabases('differences of every class', (open) => {
  it('P40 P41 are all found and classed right among what matches, and no other is', async () => {
    const database = await open()
    const { lost, found, injected } = await reconcileWithBreaks(database, 300, EACH)
    expect(lost.counts).toEqual({ payments: { missing_internal: 300 } })
    const silent = new Set(['not_ours', 'matched_within_tolerance'])
    const expected = [...injected].filter(([, one]) => !silent.has(one)).sort()
    expect(found.breaks.map((one) => [one.item_id, one.class]).sort()).toEqual(expected)
    expect(found.counts).toEqual({
      payments: {
        amount_mismatch: EACH,
        currency_mismatch: EACH,
        duplicate_external: EACH,
        duplicate_internal: EACH,
        matched: 300 - 5 * EACH,
        matched_within_tolerance: EACH,
        missing_external: EACH,
        missing_internal: EACH,
        not_ours: EACH,
        status_mismatch: EACH,
        timing_difference: EACH,
        unverifiable: EACH,
      },
      refunds: { unexplained_refund: EACH },
    })
    const alarmed = await database.query<{ cause: string }>({
      name: '',
      text: "select cause from exceptions where kind = 'recon_break' and state = 'open'",
    })
    expect(alarmed).toHaveLength(EACH * 7)
    expect((await audit(database)).differences).toEqual([])
  })
})
