import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Admission = {
  enter(ip: string): 'welcome' | 'full' | 'crowded'
  leave(ip: string): void
}

/** Counts connections in total and per address. */
export function openAdmission(max: number, maxPerIp: number): Admission {
  const counts = new Map<string, number>()
  let total = 0
  return {
    enter(ip) {
      const place = placeOf(ip)
      const count = counts.get(place) ?? 0
      if (total >= max) return 'full'
      if (count >= maxPerIp) return 'crowded'
      total += 1
      counts.set(place, count + 1)
      return 'welcome'
    },
    leave(ip) {
      const place = placeOf(ip)
      const count = counts.get(place) ?? 0
      total -= 1
      if (count > 1) counts.set(place, count - 1)
      else counts.delete(place)
    },
  }
}

// One IPv6 customer holds a whole /64 and could take a fresh address for every connection.
function placeOf(ip: string): string {
  return isIPv6(ip) ? ipaddr.parse(ip).toByteArray().slice(0, 8).join('.') : ip
}

/** A dual-stack listener shows IPv4 clients as ::ffff:192.0.2.1; a link-local address carries its zone. */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '')
}
