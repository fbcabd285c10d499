// Whether a gathered record does what is wanted of it.
import { quoted } from '../reading.ts'
import { passes, passesOn } from './evaluate.ts'
import { costsOf, type Gathered, mostFollowed, mostLookups } from './gather.ts'
import { rangeOf } from './parse.ts'

/** `ip`: addresses or networks. */
export type SpfWanted = { domain: string; include: string[]; ip: string[] }

/** `fault`: why receivers use nothing of it. `absent`: the wanted terms that it does not authorise. */
export type Weighed = { fault: string | undefined; absent: string[]; isUnreadable: boolean }

export function weigh(gathered: Gathered, wanted: SpfWanted): Weighed {
  const { root } = gathered
  const answers = [
    ...wanted.include.map((name) => passesOn(root, name)),
    ...wanted.ip.map((ip) => passes(root, ip)),
  ]
  const absent = termsFor(wanted).filter((_, i) => answers[i] === 'no')
  return { fault: faultOf(gathered), absent, isUnreadable: answers.includes('unreadable') }
}

export function termsFor({ include, ip }: Pick<SpfWanted, 'include' | 'ip'>): string[] {
  return [
    ...include.map((name) => `include:${name}`),
    ...ip.map((one) => `${rangeOf(one)?.[0].kind() === 'ipv6' ? 'ip6' : 'ip4'}:${one}`),
  ]
}

// RFC 7208 §4.6.4.
const mostVoids = 2

function faultOf({ root, lookups, voids, faults }: Gathered): string | undefined {
  if (faults.length > 0)
    return `${[...new Set(faults)].slice(0, 5).join('; ')}. Correct or take out what leads there.`
  if (lookups > mostLookups) {
    const number = lookups > mostFollowed ? `more than ${mostFollowed}` : lookups
    return `it takes ${number} look-ups and ${mostLookups} are the most. ${takeOut(root)}.`
  }
  if (voids > mostVoids)
    return `${voids} of the names in it do not exist and ${mostVoids} are the most. Take them out.`
  return undefined
}

const [mostNamed, longestNamed] = [12, 100]

/** For a person to choose from: only they know what they send with. */
export function takeOut(root: Gathered['root']): string {
  const costs = costsOf(root).sort((one, other) => other.lookups - one.lookups)
  if (costs.length === 0) return 'Nothing in the record takes any'
  const named = costs
    .slice(0, mostNamed)
    .map(({ text, lookups }) => `${quoted(text.slice(0, longestNamed))} takes ${lookups}`)
  const more = costs.length > mostNamed ? `, and ${costs.length - mostNamed} more` : ''
  return `Take out what you no longer send with: ${named.join(', ')}${more}`
}

/** The terms of the record itself that authorise nobody, and of which receivers use nothing because of them. */
export function deadTerms({ root, voids }: Gathered): string[] {
  if ('fault' in root) return []
  const { record, below, redirect, hosts } = root
  const leadsNowhere = (node: Gathered['root'] | null | undefined) =>
    node && 'fault' in node && node.fault !== 'unreadable'
  const dead = record.terms.filter(
    (term) =>
      leadsNowhere(below.get(term)) || (voids > mostVoids && hosts.get(term) === 'none' && isAsked(term)),
  )
  const words = dead.map(({ text }) => text)
  return leadsNowhere(redirect) ? [...words, ...record.text.split(' ').filter(isRedirect)] : words
}

/** What a `ptr` or a macro comes to, only a message shows. */
const isAsked = ({ kind, domain }: { kind: string; domain: string | null }) =>
  kind !== 'ptr' && !domain?.includes('%')
const isRedirect = (word: string) => /^redirect=/i.test(word)
