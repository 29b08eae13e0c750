// biome-ignore-all lint/suspicious/noTemplateCurlyInString: source text
// Known bugs of signatures and secrets.

const CONTRACT = 'src/providers/contract.test.ts'
const STRIPE = 'src/providers/stripe/stripe.test.ts'
const VERIFY = 'src/providers/stripe/verify.ts'
const SIGNATURE = 'src/providers/signature.ts'

/** @type {readonly import('./list.js').Mutation[]} */
export const SIGNATURES = [
  {
    id: 'case-01',
    bug: 'the body is parsed and encoded again before the digest',
    file: VERIFY,
    find: '.update(delivery.body)',
    replace: '.update(JSON.stringify(JSON.parse(Buffer.from(delivery.body).toString())))',
    test: CONTRACT,
    name: 'stripe verify.*case-01 refuses any change',
  },
  {
    id: 'case-01',
    bug: 'the body is trimmed before the digest',
    file: VERIFY,
    find: '.update(delivery.body)',
    replace: '.update(Buffer.from(delivery.body).toString().trim())',
    test: CONTRACT,
    name: 'stripe verify.*case-01 case-02',
  },
  {
    id: 'case-02',
    bug: 'the body goes through a string in another charset',
    file: VERIFY,
    find: '.update(delivery.body)',
    replace: ".update(Buffer.from(delivery.body).toString('ascii'))",
    test: CONTRACT,
    name: 'stripe verify.*case-01 case-02',
  },
  {
    id: 'case-03',
    bug: 'a time far ahead is taken',
    file: 'src/providers/time-window.ts',
    find: 'if (age_s < -tolerance_s)',
    replace: 'if (age_s < -1_000_000_000)',
    test: CONTRACT,
    name: 'stripe verify.*case-03',
  },
  {
    id: 'case-03',
    bug: 'seconds are taken for milliseconds',
    file: VERIFY,
    find: 'Number(stamp) * 1000',
    replace: 'Number(stamp)',
    test: STRIPE,
    name: 'case-03',
  },
  {
    id: 'case-03',
    bug: 'the unit of the time is guessed from its length',
    file: VERIFY,
    find: 'stamp = /^(?:0|[1-9][0-9]{0,11})$/.test(value) ? value : undefined',
    replace: 'stamp = value.slice(0, 10)',
    test: STRIPE,
    name: 'case-03',
  },
  {
    id: 'case-04',
    bug: 'whoever signs with whatever secret is believed',
    file: SIGNATURE,
    find: 'if (equal && match === null) match = secret',
    replace: 'if (match === null) match = equal ? secret : secrets[0]!',
    test: CONTRACT,
    name: 'stripe verify.*case-04',
  },
  {
    id: 'case-04',
    bug: 'a newline at the end of a secret belongs to it',
    file: 'src/providers/secret.ts',
    find: 'const text = raw.trim()',
    replace: 'const text = raw',
    test: STRIPE,
    name: 'case-04 cuts white space',
  },
  {
    id: 'case-04',
    bug: 'a blank secret counts as configured',
    file: 'src/providers/secret.ts',
    find: "if (typeof raw !== 'string' || raw.trim() === '')",
    replace: "if (typeof raw !== 'string')",
    also: [
      {
        file: 'src/providers/secret.ts',
        find: 'if (isPlaceholder(text))',
        replace: "if (text !== '' && isPlaceholder(text))",
      },
    ],
    test: STRIPE,
    name: 'P06 case-04',
  },
  {
    id: 'case-05',
    bug: 'comparing a signature of another length throws',
    file: SIGNATURE,
    find: "return text.length === 2 * length && /^[0-9a-fA-F]*$/.test(text) ? Buffer.from(text, 'hex') : null",
    replace: "return Buffer.from(text, 'hex')",
    also: [{ file: SIGNATURE, find: 'digest.length === candidate.length && ', replace: '' }],
    test: CONTRACT,
    name: 'stripe verify.*case-05 refuses a missing',
  },
  {
    id: 'case-05',
    bug: 'upper-case digits are refused',
    file: SIGNATURE,
    find: '/^[0-9a-fA-F]*$/',
    replace: '/^[0-9a-f]*$/',
    test: STRIPE,
    name: 'case-05',
  },
  {
    id: 'case-05',
    bug: 'only the first of two header lines counts',
    file: VERIFY,
    find: "lines.join(',')",
    replace: "lines[0]!.split(', ')[0]!",
    test: CONTRACT,
    name: 'stripe verify.*case-05 takes repeated',
  },
]
