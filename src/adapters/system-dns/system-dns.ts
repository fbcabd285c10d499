import { NODATA, NOTFOUND } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { Dns, DnsAnswer } from '../../kernel/ports.ts'

/** `timeoutMs` is for a whole question, with its repetitions. */
export type DnsOptions = { servers?: string[]; timeoutMs?: number }

export function openDns({ servers, timeoutMs = 5_000 }: DnsOptions): Dns {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 })
  if (servers && servers.length > 0) resolver.setServers(servers)
  return {
    mx: (domain) => told(resolver.resolveMx(domain)),
    txt: (name) => told(resolver.resolveTxt(name).then((found) => found.map((strings) => strings.join('')))),
    cname: (name) => told(resolver.resolveCname(name)),
    addresses: async (name) =>
      both(await Promise.all([told(resolver.resolve4(name)), told(resolver.resolve6(name))])),
    exists: (name) => exists(resolver.resolveSoa(name)),
  }
}

const noSuchRecord = new Set<unknown>([NOTFOUND, NODATA])
const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code

async function told<T>(asked: Promise<T[]>): Promise<DnsAnswer<T>> {
  try {
    const found = await asked
    return found.length > 0 ? found : 'none'
  } catch (error) {
    // A server that fails or stays silent has not said that there is nothing.
    return noSuchRecord.has(codeOf(error)) ? 'none' : 'unreadable'
  }
}

function both<T>([one, other]: [DnsAnswer<T>, DnsAnswer<T>]): DnsAnswer<T> {
  if (Array.isArray(one)) return Array.isArray(other) ? [...one, ...other] : one
  return one === 'unreadable' && other === 'none' ? one : other
}

async function exists(asked: Promise<unknown>): Promise<boolean | 'unreadable'> {
  try {
    await asked
    return true
  } catch (error) {
    if (codeOf(error) === NODATA) return true
    return codeOf(error) === NOTFOUND ? false : 'unreadable'
  }
}
