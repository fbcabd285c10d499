import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// Carrier-grade NAT (100.64.0.0/10) is also where overlay networks of the operator's own live.
const privateRanges = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'])

// Metadata services of clouds that sit in private ranges, and Azure's in a public one; link-local ones are never
// allowed anyway.
const metadata = new Set(['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16'])

// What IANA has given out as global unicast. Outside of it ipaddr.js answers «unicast» for forms such as
// ::127.0.0.1, which some systems still route to the address inside.
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/** May we connect to this address? Mapped, translated and tunnelled forms of IPv4 are refused as such. */
export function isAllowedAddress(address: string, allowPrivate: boolean): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  if (metadata.has(parsed.toString())) return false
  const range = parsed.range()
  if (allowPrivate && privateRanges.has(range)) return true
  if (range !== 'unicast') return false
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(globalUnicast)
}

/** This very machine: what goes there passes no network. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
