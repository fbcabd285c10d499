import { BADNAME, NODATA, NOTFOUND } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { Dns, DnsAnswer } from '../../kernel/ports.ts'

/** `timeoutMs` is for a whole question, with its repetitions. */
export type DnsOptions = { servers?: string[]; timeoutMs?: number }

// A lost packet is asked for once more.
const [firstTryMs, tries] = [2_000, 2]

export function openDns({ servers, timeoutMs = 5_000 }: DnsOptions): Dns {
  // A resolver of its own for each question: one that is kept waits ever shorter for a server that has been fast, down
  // to a quarter of a second, and then a slow zone could not be read.
  const resolver = () => {
    const made = new Resolver({ timeout: Math.min(firstTryMs, timeoutMs), tries })
    if (servers && servers.length > 0) made.setServers(servers)
    return made
  }
  const ask = <T>(name: string, question: (name: string) => Promise<T[]>) =>
    isName(name) ? told(inTime(question(name), timeoutMs)) : Promise.resolve('none' as const)
  const [ip4, ip6] = [
    (name: string) => resolver().resolve4(name),
    (name: string) => resolver().resolve6(name),
  ]
  return {
    mx: (domain) => ask(domain, (name) => resolver().resolveMx(name)),
    txt: (domain) => ask(domain, async (name) => (await resolver().resolveTxt(name)).map(joined)),
    cname: (alias) => ask(alias, (name) => resolver().resolveCname(name)),
    addresses: async (name) => both(await Promise.all([ask(name, ip4), ask(name, ip6)])),
    exists: async (name) => isName(name) && isThere(inTime(ip4(name), timeoutMs)),
  }
}

const joined = (strings: string[]) => strings.join('')

// The resolver would cut a name at NUL and read escapes; an empty one would be the root.
const isName = (name: string) => name !== '' && !/[\0-\x20\\\x7f]/.test(name)

// A name that cannot be written in a question cannot have records.
const noSuchRecord = new Set<unknown>([NOTFOUND, NODATA, BADNAME])
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

async function isThere(asked: Promise<unknown>): Promise<boolean | 'unreadable'> {
  try {
    await asked
    return true
  } catch (error) {
    if (codeOf(error) === NODATA) return true
    return noSuchRecord.has(codeOf(error)) ? false : 'unreadable'
  }
}

function both<T>([one, other]: [DnsAnswer<T>, DnsAnswer<T>]): DnsAnswer<T> {
  if (Array.isArray(one)) return Array.isArray(other) ? [...one, ...other] : one
  return one === 'unreadable' && other === 'none' ? one : other
}

async function inTime<T>(asked: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), timeoutMs)
  })
  try {
    return await Promise.race([asked, end])
  } finally {
    clearTimeout(timer)
  }
}
