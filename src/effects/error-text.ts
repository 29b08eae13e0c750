/** The most characters of an error that are kept with an effect. */
export const ERROR_TEXT_MAX = 500

/** What is kept of an error: its message, bounded, without what the database cannot store in a text. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text.replaceAll('\0', '').slice(0, ERROR_TEXT_MAX)
}
