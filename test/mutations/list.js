// Known bugs of payment code, as changes of ours: each must make the named test fail. `npm run mutations` puts them in.
import { EFFECTS } from './effects.js'
import { PROVIDERS } from './providers.js'
import { RECEIVE } from './receive.js'
import { RULES } from './rules.js'
import { SETTLE } from './settle.js'

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
export const MUTATIONS = [...PROVIDERS, ...RULES, ...RECEIVE, ...SETTLE, ...EFFECTS]
