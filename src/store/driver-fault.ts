import { Fault } from '../facts/fault.ts'

/** The SQLSTATE of a server's error or the code of a socket's error, if it carries one. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** True for a deadlock or a serialisation failure: the same transaction, repeated whole, may well succeed. */
export function lostRace(error: unknown): boolean {
  const code = errorCode(error)
  return code === '40P01' || code === '40001'
}

/**
 * True when a row was no longer as the caller had read it. Statements that must find their rows say so by dividing by zero,
 * since an error aborts the transaction even when COMMIT was sent behind them.
 */
export function movedOn(error: unknown): boolean {
  return errorCode(error) === '22012'
}

const socketCode = /^E[A-Z_]{3,}$/
/** Connection exceptions, shutdown and crash of the server, a standby that takes no writes, exhausted resources. */
const unavailableState = /^(?:08...|57P0[1-5]|25006|53[124]00)$/
const lostConnection =
  /^Connection terminated|^Client (?:has encountered|was closed)|^Cannot use a pool|not queryable/
const refusedLogin = /^(?:28...|3D000|42501)$/

/**
 * Gives the error to throw for what a driver threw: Fault `database_unavailable` when the connection is gone or was
 * never there, Fault `database_busy` when no connection is free, else the error itself with its SQLSTATE.
 */
export function driverFault(error: unknown): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error
  const code = errorCode(error)
  if (error.message.startsWith('timeout exceeded when trying to connect') || code === '53300') {
    return new Fault(
      'database_busy',
      'No database connection became free in time. Try again; if it persists, raise the pool size or max_connections.',
      { retriable: true, cause: error },
    )
  }
  if (!isConnectionLoss(error, code)) return error
  return new Fault(
    'database_unavailable',
    `The database cannot be reached (${error.message}). Try again; if it persists, check the server and its URL.`,
    { retriable: true, cause: error },
  )
}

/** As `driverFault`, for the first connection, where a refused login is a matter of settings. */
export function openingFault(error: unknown): unknown {
  const code = errorCode(error)
  if (code === undefined || !refusedLogin.test(code)) return driverFault(error)
  return new Fault(
    'database_unavailable',
    `The database refused the login (${(error as Error).message}). Correct the user, password or database name of its URL.`,
    { cause: error },
  )
}

function isConnectionLoss(error: Error, code: string | undefined): boolean {
  if (code !== undefined) return socketCode.test(code) || unavailableState.test(code)
  return lostConnection.test(error.message)
}
