import { main } from '../../src/cli/main.ts'

/** The command line in a process of its own, from the sources. */
await main(['node', 'paidonce', ...process.argv.slice(2)])
