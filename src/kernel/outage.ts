// What is the database's own trouble, not the statement's: told as such, whatever was asked.
import { Refusal, type Told } from './refusal.ts'
import { databaseUnavailable } from './refusals.ts'

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function translate(error: unknown): never {
  if (error instanceof Refusal || !isOutage(error)) throw error
  throw Object.assign(databaseUnavailable(aboutOutage(error)), { cause: error })
}

// It only reads, or its disk is full.
const unwritable = /^(25006|53100)$/

export const isUnwritable = (error: unknown) => unwritable.test(codeOf(error))

/** Of one statement, which another need not share. */
export const isTooSlow = (error: unknown) => codeOf(error) === '57014'

// A table, column or function that is not there: another version migrated the database meanwhile, or it was made anew.
const otherSchema = /^(42P01|42703|42883)$/

/** A database that is there, and busy or full, is not to be looked for. */
function aboutOutage(error: unknown): Told {
  if (otherSchema.test(codeOf(error)))
    return {
      message: 'The database is there, but its tables are not those of this version of Posthorn.',
      hint: 'Whoever runs the service has to start the version that the database is of.',
    }
  if (isUnwritable(error)) return { message: 'The database takes no writes at the moment.' }
  if (codeOf(error) === '53300')
    return { message: 'All connections that the database allows are taken at the moment.' }
  if (isTooSlow(error))
    return {
      message: 'The database was stopped over this, which took longer than it may.',
      hint: 'Ask for less at once: a shorter time, a smaller page. Or call again when there is less to do.',
    }
  if (error instanceof Error && /timeout exceeded when trying to connect/.test(error.message))
    return { message: 'The database cannot be reached at the moment, or all connections to it are busy.' }
  return {}
}

// SQLSTATE 08: connection; 57P: server stopping or starting; 53300: no connection left; 57014: out of time; 25006: a
// server that only reads, as after a failover; 53100, 53200, 58030: its disk is full or broken, or its memory.
const outageStates = /^(08...|57P0[1-5]|53[123]00|57014|25P03|25006|58030)$/
// The server is there and does not take us in: a password, role or database that was changed under a running service,
// a certificate that has run out.
const turnedAway = /^(28000|28P01|3D000|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|ERR_(TLS|SSL)_.*)$/
const outageErrnos = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
// The driver's own words, which carry no code.
const outageWords =
  /connection terminated|timeout expired|read timeout|timeout exceeded|not queryable|was closed/i

function isOutage(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  const isKnown = [outageStates, turnedAway, otherSchema].some((codes) => codes.test(code))
  // A socket of the file system is not there, or its line is full, by codes that mean something else elsewhere.
  if ('syscall' in error && error.syscall === 'connect') return true
  return isKnown || outageErrnos.has(code) || (code === '' && outageWords.test(error.message))
}
