// Tries to own the directory given, says how that went, and keeps it until it is told to end.
import { Fault } from '../../src/facts/fault.ts'
import { lockDirectory } from '../../src/store/directory-lock.ts'

const [directory] = process.argv.slice(2)
process.stdin.once('data', () => {
  lockDirectory(directory!).then(
    () => console.log('owner'),
    (error: unknown) => console.log(error instanceof Fault ? error.code : String(error)),
  )
})
console.log('ready')
