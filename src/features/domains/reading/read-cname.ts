import type { Dns } from '../../../kernel/ports.ts'
import { normalName, quoted, type Reading, reading, unreadable } from './reading.ts'

export type CnameWanted = { host: string; target: string }

export async function readCname(dns: Dns, { host, target }: CnameWanted): Promise<Reading> {
  const addresses = dns.addresses(host)
  const found = await dns.cname(host)
  const publish = `Publish a CNAME record at ${host} with the value ${target}.`
  if (found === 'unreadable') return unreadable('CNAME', host)
  if (found === 'none') return withoutAlias(host, publish, await addresses)
  const [points = ''] = found.map(normalName)
  const isThere = await leadsTo(dns, points, normalName(target))
  if (isThere === 'unreadable') return unreadable('CNAME', points)
  if (isThere) return reading('ok', `${host} points to ${target}.`, found)
  const hint = points.startsWith(`${normalName(target)}.`)
    ? ' The zone was added to it: write the value with a dot at its end.'
    : ''
  return reading(
    'mismatch',
    `${host} points to ${quoted(points)}, not to ${target}.${hint} ${publish}`,
    found,
  )
}

// Resolvers follow more; each is a question that has to wait for the one before.
const mostSteps = 2

/** An alias of an alias is as good: whoever looks up what stands there follows all of them. */
async function leadsTo(dns: Dns, first: string, target: string): Promise<boolean | 'unreadable'> {
  let name = first
  for (let step = 0; name !== target; step++) {
    const next = step < mostSteps ? await dns.cname(name) : 'none'
    if (next === 'unreadable') return next
    if (next === 'none') return false
    name = normalName(next[0] ?? '')
  }
  return true
}

function withoutAlias(host: string, publish: string, addresses: string[] | string): Reading {
  if (!Array.isArray(addresses)) return reading('missing', `${host} has no CNAME record. ${publish}`)
  return reading('mismatch', `${host} has addresses of its own, not an alias. ${publish}`, addresses)
}
