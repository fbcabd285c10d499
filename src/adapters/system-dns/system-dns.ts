import { Resolver } from 'node:dns/promises'
import type { Dns, DnsAnswer } from '../../kernel/ports.ts'

export type DnsOptions = { servers?: string[]; timeoutMs?: number }

export function openDns({ servers, timeoutMs = 1_500 }: DnsOptions): Dns {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 })
  if (servers && servers.length > 0) resolver.setServers(servers)
  return {
    mx: (domain) => told(resolver.resolveMx(domain)),
    // A record of several strings is one text.
    txt: (name) =>
      told(resolver.resolveTxt(name).then((records) => records.map((strings) => strings.join('')))),
  }
}

const noSuchRecord = new Set(['ENOTFOUND', 'ENODATA'])

async function told<T>(asked: Promise<T[]>): Promise<DnsAnswer<T>> {
  try {
    const found = await asked
    return found.length > 0 ? found : 'none'
  } catch (error) {
    // A server that fails or stays silent has not said that there is nothing.
    return noSuchRecord.has((error as NodeJS.ErrnoException).code ?? '') ? 'none' : 'unreadable'
  }
}
