// Where a customer's server really is, for connections that no HTTP client makes: mail servers.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isAllowedAddress } from './allowed-address.ts'

export type Found = { address: string; family: number }

export type AddressGuard = {
  allowPrivate: boolean
  /** The system's when absent. */
  resolve?: (host: string) => Promise<Found[]>
}

const bySystem = (host: string): Promise<Found[]> => lookup(host, { all: true })

/**
 * The addresses to connect to, all of them allowed; a connection has to go to one of these, since asking again may
 * bring another answer. Throws where one is not allowed: which of them gets connected to is not for us to guess.
 */
export async function resolveAllowed(
  host: string,
  { allowPrivate, resolve = bySystem }: AddressGuard,
): Promise<Found[]> {
  const family = isIP(host)
  const found = family === 0 ? await resolve(host).catch(() => []) : [{ address: host, family }]
  if (found.length === 0) throw new Error(`the host ${host} cannot be found`)
  if (found.every(({ address }) => isAllowedAddress(address, allowPrivate))) return found
  throw new Error(`${host} is not a public address`)
}
