// Known bugs of payment code, as changes of ours: each must make the named test fail. `npm run mutations` puts them in.

/**
 * @typedef {object} Mutation
 * @property {string} id the case, sequence or promise
 * @property {string} bug what such code does wrong
 * @property {string} file
 * @property {string} find stands exactly once in the file
 * @property {string} replace
 * @property {string} test file of the test that must notice
 * @property {string} name part of its title
 * @property {boolean} [database] true when the test needs PostgreSQL
 */

/** @type {readonly Mutation[]} */
export const MUTATIONS = [
  {
    id: 'case-28',
    bug: 'an old failure ends a payment that succeeded',
    file: 'src/rules/rank.ts',
    find: '  failed: 4,\n  canceled: 5,\n  // Beside',
    replace: '  failed: 9,\n  canceled: 5,\n  // Beside',
    test: 'src/rules/derive-payment.test.ts',
    name: 'case-28',
  },
  {
    id: 'seq-05',
    bug: 'a refund that fails later stays done',
    file: 'src/rules/rank.ts',
    find: '  failed: 4,\n  canceled: 4,\n  reversed: 5,',
    replace: '  failed: 2,\n  canceled: 4,\n  reversed: 5,',
    test: 'src/rules/derive-refund.test.ts',
    name: 'seq-05',
  },
  {
    id: 'seq-24',
    bug: 'a dispute that was decided in part is lost whole',
    file: 'src/rules/rank.ts',
    find: "  partially_won: 'partial',",
    replace: "  partially_won: 'lost',",
    test: 'src/rules/derive-dispute.test.ts',
    name: 'seq-24',
  },
  {
    id: 'case-37',
    bug: 'an inquiry takes the money as a chargeback does',
    file: 'src/rules/rank.ts',
    find: 'export const FIRST_STAGE_WITH_MONEY = DISPUTE_STAGE_RANK.chargeback',
    replace: 'export const FIRST_STAGE_WITH_MONEY = DISPUTE_STAGE_RANK.early_warning',
    test: 'src/rules/derive-dispute.test.ts',
    name: 'case-37',
  },
  {
    id: 'seq-14',
    bug: 'a null in an older snapshot takes back what was known',
    file: 'src/rules/unite.ts',
    find: '      if (value === null || value === undefined) continue\n',
    replace: '',
    test: 'src/rules/unite.test.ts',
    name: 'seq-14',
  },
  {
    id: 'seq-28',
    bug: 'the refund of a surplus payment takes the right',
    file: 'src/rules/entitlement-policy.ts',
    find: 'let surplus = sums.captured_minor - due_minor',
    replace: 'let surplus = 0n',
    test: 'src/rules/derive-order.test.ts',
    name: 'seq-28',
  },
  {
    id: 'case-33',
    bug: 'the right number in the wrong currency pays',
    file: 'src/rules/order-sums.ts',
    find: 'a !== null && a.toUpperCase() === b.toUpperCase()',
    replace: 'a !== undefined || b !== undefined',
    test: 'src/rules/derive-order.test.ts',
    name: 'case-33',
  },
]
