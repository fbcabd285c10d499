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
  if (points === normalName(target)) return reading('ok', `${host} points to ${target}.`, found)
  const hint = points.startsWith(`${normalName(target)}.`)
    ? ' The zone was added to it: write the value with a dot at its end.'
    : ''
  return reading(
    'mismatch',
    `${host} points to ${quoted(points)}, not to ${target}.${hint} ${publish}`,
    found,
  )
}

function withoutAlias(host: string, publish: string, addresses: string[] | string): Reading {
  if (!Array.isArray(addresses)) return reading('missing', `${host} has no CNAME record. ${publish}`)
  return reading('mismatch', `${host} has addresses of its own, not an alias. ${publish}`, addresses)
}
