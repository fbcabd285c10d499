// A server, a database or a role can have settings of its own under which values are read and written otherwise.

export type Settings = Record<string, string>

/** What statements and the driver rely on: the defaults of PostgreSQL, and UTC. */
const relied: Settings = {
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
  lock_timeout: '0',
  idle_session_timeout: '0',
}

/** For what takes as long as there is data. */
export const patience: Settings = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' }

/**
 * For the driver: the address, and the settings that a connection begins with. The driver would have options in the
 * address take the place of these; here they only come before them.
 */
export function connectionTo(
  address: string,
  more: Settings = {},
): { connectionString: string; options: string } {
  const url = new URL(address)
  const given = url.searchParams.get('options') ?? ''
  url.searchParams.delete('options')
  const isNamedAnew = nameTlsMode(url.searchParams)
  const ours = Object.entries({ ...relied, ...more }).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
  )
  return {
    connectionString: given === '' && !isNamedAnew ? address : url.href,
    options: [given, ...ours].join(' ').trim(),
  }
}

/** The driver takes these for verify-full, and says so at length on standard error, where the log is. */
function nameTlsMode(query: URLSearchParams): boolean {
  const isSynonym = ['prefer', 'require', 'verify-ca'].includes(query.get('sslmode') ?? '')
  if (!isSynonym || query.get('uselibpqcompat') === 'true') return false
  query.set('sslmode', 'verify-full')
  return true
}
