/** True for an amount as stored facts hold it: a name ending in `_minor`, and decimal text. */
export function isMoneyField(name: string, value: unknown): value is string {
  return name.endsWith('_minor') && typeof value === 'string'
}
