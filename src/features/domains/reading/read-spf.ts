import type { Dns } from '../../../kernel/ports.ts'
import { normalName, quoted, type Reading, type Remark, reading, unreadable } from './reading.ts'
import { endOf, passes, passesOn, unreadBelow } from './spf/evaluate.ts'
import { type Gathered, gatherSpf, mostFollowed, mostLookups, type Node } from './spf/gather.ts'
import { rangeOf } from './spf/parse.ts'

/** `ip`: addresses or networks. */
export type SpfWanted = { domain: string; include: string[]; ip: string[] }
export type SpfReading = Reading & {
  /** How many further questions the record costs a receiver; one more than are counted where it is more. */
  lookups: number
  /** How the record ends: `~all` and so on. */
  policy: string | null
  /** The wanted terms that it does not authorise. */
  absent: string[]
}

// RFC 7208 §4.6.4.
const mostVoids = 2

export async function readSpf(dns: Dns, wanted: SpfWanted): Promise<SpfReading> {
  const gathered = await gatherSpf(dns, normalName(wanted.domain), wanted.ip.length > 0)
  const { root, lookups } = gathered
  const read = 'fault' in root ? withoutRecord(root, wanted) : judge(gathered, root, wanted)
  return { absent: [], ...read, lookups, policy: endOf(root) }
}

type Failed = Extract<Node, { fault: unknown }>
type Found = Exclude<Node, Failed>

function withoutRecord({ fault, why, texts }: Failed, wanted: SpfWanted): Reading {
  const { domain } = wanted
  const terms = termsFor(wanted)
  const publish =
    terms.length === 0
      ? 'Publish one that names the servers it sends from.'
      : `Publish a TXT record at ${domain} with the value ${['v=spf1', ...terms, '~all'].join(' ')}`
  if (fault === 'unreadable') return unreadable('SPF', domain)
  if (fault === 'none') {
    const [almost] = texts
    const instead =
      almost === undefined
        ? ''
        : ` The TXT record ${quoted(almost)} is none: it has to begin with v=spf1 and a space. Replace it.`
    return reading('missing', `${domain} has no SPF record.${instead} ${publish}`, texts)
  }
  if (fault === 'multiple')
    return reading(
      'multiple',
      `${domain} has ${texts.length} SPF records, and receivers then use none: ` +
        `${texts.slice(0, 5).map(quoted).join(' and ')}. Put their terms into one record and delete the others.`,
      texts,
    )
  return reading('invalid', `${sentence(why)} Correct the record.`, texts)
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

function judge(gathered: Gathered, root: Found, wanted: SpfWanted): Reading & { absent?: string[] } {
  const unread = unreadBelow(root)
  const { state, explanation, absent } = verdict(gathered, root, wanted, unread)
  return { ...reading(state, explanation, [root.record.text]), remarks: remarksOf(root, unread), absent }
}

type Verdict = Pick<Reading, 'state' | 'explanation'> & { absent?: string[] }

function verdict(gathered: Gathered, root: Found, wanted: SpfWanted, unread: string[]): Verdict {
  const record = `The SPF record of ${wanted.domain}`
  const fault = faultOf(gathered)
  if (fault !== undefined) return { state: 'invalid', explanation: `${record} cannot be evaluated: ${fault}` }
  const answers = [
    ...wanted.include.map((name) => passesOn(root, name)),
    ...wanted.ip.map((ip) => passes(root, ip)),
  ]
  const terms = termsFor(wanted)
  const spent = `it takes ${gathered.lookups} of ${mostLookups} look-ups`
  const absent = terms.filter((_, i) => answers[i] === 'no')
  if (absent.length > 0) {
    const corrected = correctedSpf(root.record.text, absent)
    const change =
      corrected.length > longestPasted ? 'Add it behind v=spf1.' : `Change the record to ${corrected}`
    return {
      state: 'mismatch',
      explanation: `${record} does not authorise ${absent.join(', ')}; ${spent}. ${change}`,
      absent,
    }
  }
  if (answers.includes('unreadable')) {
    const names = unread.map(quoted).join(', ') || 'a host in it'
    return {
      state: 'unreadable',
      explanation: `${record} could not be read to its end: ${names} gave no answer.`,
    }
  }
  return {
    state: 'ok',
    explanation: `${record} authorises ${terms.join(', ') || 'what it names'}; ${spent}.`,
  }
}

function faultOf({ lookups, voids, faults }: Gathered): string | undefined {
  if (faults.length > 0)
    return `${[...new Set(faults)].slice(0, 5).join('; ')}. Correct or take out what leads there.`
  if (lookups > mostLookups)
    return (
      `it takes ${numberOf(lookups)} look-ups and ${mostLookups} are the most. ` +
      'Take out includes that are not in use.'
    )
  if (voids > mostVoids)
    return `${voids} of the names in it do not exist and ${mostVoids} are the most. Take them out.`
  return undefined
}

const numberOf = (lookups: number) => (lookups > mostFollowed ? `more than ${mostFollowed}` : lookups)

function termsFor({ include, ip }: Pick<SpfWanted, 'include' | 'ip'>): string[] {
  return [
    ...include.map((name) => `include:${name}`),
    ...ip.map((one) => `${rangeOf(one)?.[0].kind() === 'ipv6' ? 'ip6' : 'ip4'}:${one}`),
  ]
}

const longestPasted = 1_000

/** A domain has one SPF record: what is missing from the one that is there goes into it. */
export function correctedSpf(text: string, absent: string[]): string {
  const isAbsent = (word: string) => absent.includes(word.toLowerCase().replace(/^[-+~?]/, ''))
  const kept = text
    .split(' ')
    .slice(1)
    .filter((word) => word !== '' && !isAbsent(word))
  // In front: nothing that stands before can decide otherwise.
  return ['v=spf1', ...absent, ...kept].join(' ')
}

const ends: Record<string, Remark> = {
  '+all': {
    code: 'plus_all',
    message: 'The record ends in +all, which authorises everybody. End it in ~all.',
  },
  '-all': {
    code: 'minus_all',
    message:
      'The record ends in -all: some receivers refuse mail before they see its signature. ~all is safer.',
  },
}

function remarksOf(root: Found, unread: string[]): Remark[] {
  const remarks: Remark[] = []
  const end = ends[endOf(root) ?? '']
  if (end) remarks.push(end)
  if (root.record.terms.some(({ kind }) => kind === 'ptr'))
    remarks.push({ code: 'ptr', message: 'The term ptr is slow and not to be used any more. Take it out.' })
  if (unread.length > 0)
    remarks.push({ code: 'include_unreadable', message: `${unread.map(quoted).join(', ')} gave no answer.` })
  return remarks
}
