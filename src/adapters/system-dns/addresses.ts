// The addresses of a name, from the resolvers of the configuration.
import { Resolver } from 'node:dns/promises'

export type Address = { address: string; family: 4 | 6 }

type Options = { servers: string[]; timeoutMs?: number }

/** Throws when there are none, or nobody answers. */
export function openAddresses({ servers, timeoutMs = 1_500 }: Options): (name: string) => Promise<Address[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  resolver.setServers(servers)
  return async (name) => {
    // RFC 6761: never asked of a resolver.
    if (/(^|\.)localhost\.?$/i.test(name)) return [{ address: '127.0.0.1', family: 4 }]
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = [...addressesOf(four, 4), ...addressesOf(six, 6)]
    if (found.length > 0) return found
    throw four.status === 'rejected' ? four.reason : new Error(`${name} has no address`)
  }
}

function addressesOf(asked: PromiseSettledResult<string[]>, family: 4 | 6): Address[] {
  return asked.status === 'fulfilled' ? asked.value.map((address) => ({ address, family })) : []
}
