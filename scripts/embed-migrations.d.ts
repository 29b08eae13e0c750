/** The text that src/store/migrations/index.ts must have. */
export function embeddedMigrations(): string
