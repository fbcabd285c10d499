// The walk up the tree of names (RFC 9989 §4.10).
import type { Dns } from '../../../../kernel/ports.ts'
import { type DmarcRecord, isDmarc, parseDmarc } from './parse.ts'

export type Step = {
  domain: string
  record: DmarcRecord | null
  /** All texts at the place of the record. */
  texts: string[]
  isUnreadable: boolean
  /** More than one record: receivers use none. */
  isAmbiguous: boolean
}

// At most eight questions: a longer name goes on with its last seven labels.
const mostAbove = 7

/** The name and those above it that are asked, longest first. */
function namesOf(domain: string): [string, ...string[]] {
  const labels = domain.split('.')
  const above = labels.slice(1).slice(-mostAbove)
  return [domain, ...above.map((_, i) => above.slice(i).join('.'))]
}

/** A name and those above it, longest first. */
export type Walk = [Step, ...Step[]]

/** All are asked at once; what stands above a record that ends the walk is left out. */
export async function walk(dns: Dns, domain: string): Promise<Walk> {
  const [name, ...names] = namesOf(domain)
  const [own, ...above] = await Promise.all([stepAt(dns, name), ...names.map((one) => stepAt(dns, one))])
  if (endsWalk(own)) return [own]
  const end = above.findIndex(endsWalk)
  return [own, ...(end < 0 ? above : above.slice(0, end + 1))]
}

const endsWalk = ({ record }: Step) => record !== null && record.psd !== 'u'

async function stepAt(dns: Dns, domain: string): Promise<Step> {
  const answer = await dns.txt(`_dmarc.${domain}`)
  const texts = Array.isArray(answer) ? answer : []
  const [text, ...more] = texts.filter(isDmarc)
  const record = text !== undefined && more.length === 0 ? parseDmarc(text) : null
  return { domain, record, texts, isUnreadable: answer === 'unreadable', isAmbiguous: more.length > 0 }
}

/** The organisational domain of the name that the walk began with (RFC 9989 §4.10.2). */
export function organisationOf(steps: Walk): string {
  const [own] = steps
  const found = steps.filter(({ record }) => record !== null)
  const last = found.at(-1)
  if (!last) return own.domain
  return last.record?.psd === 'y' && last !== own ? belowOf(own.domain, last.domain) : last.domain
}

/** One label more than `above`. */
function belowOf(domain: string, above: string): string {
  return domain
    .split('.')
    .slice(-(above.split('.').length + 1))
    .join('.')
}

/** The record that counts for the name: its own, that of its organisation, or that of the public suffix above. */
export function prevailing(steps: Walk): Step | null {
  const [own] = steps
  if (own.record) return own
  const organisation = organisationOf(steps)
  const last = steps.findLast(({ record }) => record !== null) ?? null
  return steps.find(({ domain, record }) => record !== null && domain === organisation) ?? last
}
