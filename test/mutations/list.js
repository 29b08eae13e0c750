// Known bugs of payment code, as changes of ours: each must make the named test fail. `npm run mutations` puts them in.

import { EFFECTS } from './effects.js'
import { LOCKS } from './locks.js'
import { MESSAGES } from './messages.js'
import { OBJECTS } from './objects.js'
import { ORDERS } from './orders.js'
import { RECEIVE } from './receive.js'
import { SETTLE } from './settle.js'
import { SIGNATURES } from './signatures.js'

/**
 * @typedef {object} Mutation
 * @property {string} id the case, sequence or promise
 * @property {string} bug what such code does wrong
 * @property {string} file
 * @property {string} find stands exactly once in the file
 * @property {string} replace
 * @property {readonly { file: string, find: string, replace: string }[]} [also] what has to change with it
 * @property {string} test file of the test that must notice
 * @property {string} name part of its title, with those of its groups before it; a regular expression
 * @property {boolean} [database] true when the test needs PostgreSQL
 */

/** @type {readonly Mutation[]} */
export const MUTATIONS = [
  ...SIGNATURES,
  ...MESSAGES,
  ...OBJECTS,
  ...ORDERS,
  ...RECEIVE,
  ...SETTLE,
  ...LOCKS,
  ...EFFECTS,
]
