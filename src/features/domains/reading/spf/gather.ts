// All that the evaluation of a record can come to, read before any address is known.
import type { Dns, DnsAnswer } from '../../../../kernel/ports.ts'
import { quoted } from '../reading.ts'
import { hasMacro, isAlmostSpf, isSpf, parseSpf, type SpfRecord, type Term } from './parse.ts'

/** A record with what its terms lead to, or why there is none to evaluate. */
export type Node =
  | { domain: string; record: SpfRecord; below: Map<Term, Node>; redirect: Node | null; hosts: Hosts }
  | { domain: string; fault: 'none' | 'unreadable' | 'multiple' | 'invalid'; why: string; texts: string[] }

/** The addresses behind `a` and `mx`. */
export type Hosts = Map<Term, DnsAnswer<string>>

/** `faults` make the evaluation of the whole fail for everybody. `lookups` are exact up to `mostFollowed`. */
export type Gathered = { root: Node; lookups: number; voids: number; faults: string[] }

// RFC 7208 §4.6.4.
export const mostLookups = 10
/** What is over the ten is counted as well, to an end: whoever writes the records decides how many there are. */
export const mostFollowed = 40
const mostMailHosts = 10

type Search = Omit<Gathered, 'root'> & { dns: Dns; wantsAddresses: boolean }

/** `text` is a record that the domain might have in place of its own. */
export type Asked = { domain: string; wantsAddresses: boolean; text?: string }

export async function gatherSpf(dns: Dns, { domain, wantsAddresses, text }: Asked): Promise<Gathered> {
  const search: Search = { dns, wantsAddresses, lookups: 0, voids: 0, faults: [] }
  const root = await (text === undefined ? nodeOf(search, domain, []) : nodeWith(search, domain, text, []))
  return { ...search, lookups: Math.min(search.lookups, mostFollowed + 1), root }
}

async function nodeOf(search: Search, domain: string, above: string[]): Promise<Node> {
  const texts = await search.dns.txt(domain)
  if (texts === 'unreadable')
    return { domain, fault: 'unreadable', why: `${domain} gave no answer`, texts: [] }
  if (texts === 'none') search.voids += above.length > 0 ? 1 : 0
  const all = texts === 'none' ? [] : texts
  const found = all.filter(isSpf)
  const [text] = found
  if (text === undefined)
    return { domain, fault: 'none', why: `${domain} has no SPF record`, texts: all.filter(isAlmostSpf) }
  if (found.length > 1)
    return { domain, fault: 'multiple', why: `${domain} has ${found.length} SPF records`, texts: found }
  return nodeWith(search, domain, text, above)
}

async function nodeWith(search: Search, domain: string, text: string, above: string[]): Promise<Node> {
  const record = parseSpf(text)
  if ('fault' in record)
    return {
      domain,
      fault: 'invalid',
      why: `the SPF record of ${domain} cannot be used: ${record.fault}`,
      texts: [text],
    }
  return follow(search, domain, record, above)
}

const looksUp = new Set<Term['kind']>(['include', 'a', 'mx', 'ptr', 'exists'])

async function follow(search: Search, domain: string, record: SpfRecord, above: string[]): Promise<Node> {
  const path = [...above, domain]
  const terms = record.terms.filter(({ kind }) => looksUp.has(kind))
  // Counted before anything is asked, so that records read side by side share one allowance, and no chain is longer.
  search.lookups += terms.length + (record.redirect === null ? 0 : 1)
  const below = new Map<Term, Node>()
  const hosts: Hosts = new Map()
  const isTooMuch = search.lookups > mostFollowed
  const redirect = record.redirect === null || isTooMuch ? null : child(search, record.redirect, path)
  const followed = (isTooMuch ? [] : terms).map(async (term) => {
    const name = term.domain ?? domain
    if (term.kind !== 'include') hosts.set(term, await hostsOf(search, term, name))
    else below.set(term, await child(search, name, path))
  })
  await Promise.all(followed)
  return { domain, record, below, redirect: await redirect, hosts }
}

/** What each term of the record takes, with all that it leads to. */
export function costsOf(node: Node): { text: string; lookups: number }[] {
  if ('fault' in node) return []
  const { record, below, redirect } = node
  const under = (one: Node | null | undefined) =>
    one ? costsOf(one).reduce((n, { lookups }) => n + lookups, 0) : 0
  const terms = record.terms.filter(({ kind }) => looksUp.has(kind))
  const costs = terms.map((term) => ({ text: term.text, lookups: 1 + under(below.get(term)) }))
  if (record.redirect === null) return costs
  return [...costs, { text: `redirect=${record.redirect}`, lookups: 1 + under(redirect) }]
}

async function child(search: Search, domain: string, path: string[]): Promise<Node> {
  if (hasMacro(domain)) return unknown(domain)
  const parent = path.at(-1) ?? ''
  const node: Node = path.includes(domain)
    ? { domain, fault: 'invalid', why: `${quoted(parent)} leads back to ${quoted(domain)}`, texts: [] }
    : await nodeOf(search, domain, path)
  if ('fault' in node && node.fault !== 'unreadable')
    search.faults.push(
      node.fault === 'none' ? `${quoted(domain)}, which ${parent} names, has no SPF record` : node.why,
    )
  return node
}

/** What a macro stands for is known to a message only. */
function unknown(domain: string): Node {
  const record: SpfRecord = { terms: [], redirect: null, text: '' }
  return { domain, record, below: new Map(), redirect: null, hosts: new Map() }
}

async function hostsOf(search: Search, { kind }: Term, name: string): Promise<DnsAnswer<string>> {
  if (kind === 'ptr' || hasMacro(name)) return 'none'
  const found = kind === 'mx' ? await mailHosts(search, name) : await search.dns.addresses(name)
  if (found === 'none') search.voids += 1
  return found
}

async function mailHosts(search: Search, name: string): Promise<DnsAnswer<string>> {
  const records = await search.dns.mx(name)
  if (!Array.isArray(records)) return records
  if (records.length > mostMailHosts)
    search.faults.push(
      `${quoted(name)} has ${records.length} mail servers; ${mostMailHosts} are the most for mx`,
    )
  // A record that takes more is good for no address.
  if (!search.wantsAddresses || search.lookups > mostLookups) return []
  const found = await Promise.all(
    records.slice(0, mostMailHosts).map(({ exchange }) => search.dns.addresses(exchange)),
  )
  const addresses = found.filter(Array.isArray).flat()
  return addresses.length > 0 || !found.includes('unreadable') ? addresses : 'unreadable'
}
