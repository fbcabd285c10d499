// A plus sign that nobody encoded arrives in a query as a space. Neither an address nor a time has one there, so it is
// put back in those; everywhere else, and around an address, a space is a space.

const addresses = new Set(['email', 'to', 'senders'])
const within = /(?<=[^\s,]) (?=[^\s,])/g
const zoned = /^(\d{4}-\d{2}-\d{2}T[\d:.]+) (\d{2}:?\d{2})$/

export function withPlusSigns(query: unknown, url: string): unknown {
  if (!url.includes('+')) return query
  return Object.fromEntries(Object.entries(query ?? {}).map(([name, value]) => [name, restored(name, value)]))
}

function restored(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => restored(name, one))
  if (typeof value !== 'string') return value
  // A number to send an SMS to is written with spaces.
  const isAddress = addresses.has(name) && value.includes('@')
  return isAddress ? value.replace(within, '+') : value.replace(zoned, '$1+$2')
}
