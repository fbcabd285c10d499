// What a gathered record authorises.
import { normalName } from '../reading.ts'
import type { Node } from './gather.ts'
import { type Range, rangeOf, type Term } from './parse.ts'

type Answer = 'yes' | 'no' | 'unreadable'

/** Whether what `wanted` authorises is authorised, be it through another include. */
export function passesOn(root: Node, wanted: string): Answer {
  if ('fault' in root) return root.fault === 'unreadable' ? 'unreadable' : 'no'
  for (const [term, node] of inOrder(root)) {
    const found = passesOn(node, wanted)
    const isNamed = node.domain === normalName(wanted) && !('fault' in node)
    if (found === 'unreadable') return found
    if ((isNamed || found === 'yes') && (term === null || term.qualifier === '+')) return 'yes'
  }
  return 'no'
}

/** The records below, in the order in which a receiver comes to them. */
function inOrder({ record, below, redirect }: Exclude<Node, { fault: unknown }>): [Term | null, Node][] {
  const included = record.terms.flatMap((term): [Term, Node][] => {
    const node = below.get(term)
    return node ? [[term, node]] : []
  })
  return redirect ? [...included, [null, redirect]] : included
}

/** Whether mail from the address, or from all of the network, passes. */
export function passes(root: Node, ip: string): Answer {
  const range = rangeOf(ip)
  if (!range) return 'no'
  const result = evaluate(root, range)
  return result === 'unreadable' ? result : result === '+' ? 'yes' : 'no'
}

type Result = Term['qualifier'] | 'no match' | 'unreadable'

function evaluate(node: Node, range: Range): Result {
  if ('fault' in node) return node.fault === 'unreadable' ? 'unreadable' : 'no match'
  for (const term of node.record.terms) {
    const match = matches(node, term, range)
    if (match === 'unreadable') return match
    if (match === 'yes') return term.qualifier
  }
  return node.redirect ? evaluate(node.redirect, range) : 'no match'
}

function matches(node: Exclude<Node, { fault: unknown }>, term: Term, range: Range): Answer {
  if (term.kind === 'all') return 'yes'
  if (term.range) return covers(term.range, range) ? 'yes' : 'no'
  if (term.kind === 'include') {
    const included = node.below.get(term)
    const result = included ? evaluate(included, range) : 'no match'
    return result === 'unreadable' ? result : result === '+' ? 'yes' : 'no'
  }
  const hosts = node.hosts.get(term) ?? 'none'
  if (!Array.isArray(hosts)) return hosts === 'unreadable' ? hosts : 'no'
  return term.kind === 'exists' || hosts.some((host) => covers(around(host, term), range)) ? 'yes' : 'no'
}

function around(host: string, { bits }: Term): Range | undefined {
  const range = rangeOf(host)
  return range && [range[0], range[0].kind() === 'ipv4' ? bits.ip4 : bits.ip6]
}

function covers(network: Range | undefined, [address, length]: Range): boolean {
  return (
    network !== undefined &&
    network[0].kind() === address.kind() &&
    network[1] <= length &&
    address.match(network[0], network[1])
  )
}

/** How the record ends: `~all` and so on. */
export function endOf(node: Node): string | null {
  if ('fault' in node) return null
  const end = node.record.terms.at(-1)
  if (end?.kind === 'all') return `${end.qualifier}all`
  return node.redirect ? endOf(node.redirect) : null
}

/** The names that gave no answer. */
export function unreadBelow(node: Node): string[] {
  if ('fault' in node) return node.fault === 'unreadable' ? [node.domain] : []
  return inOrder(node).flatMap(([, below]) => unreadBelow(below))
}
