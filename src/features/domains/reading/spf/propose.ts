// The record to publish in place of what is there.
import type { Dns } from '../../../../kernel/ports.ts'
import { compose, type Draft } from './compose.ts'
import { gatherSpf } from './gather.ts'
import { deadTerms, type SpfWanted, termsFor, type Weighed, weigh } from './weigh.ts'

/** `text`: null where none can be offered that works and keeps everybody who sends. */
export type Proposal = { text: string | null; left: string[]; lookups: number }

/** Longer ones are not to be pasted, nor read. */
export const longestPasted = 1_000
const longestRead = 4_000
const [mostLeft, longestLeft] = [5, 300]

type Tried = Draft & Weighed & { lookups: number; dead: string[] }

/** Of records that a domain has, or was meant to have. It is read as receivers would before it is offered. */
export async function propose(dns: Dns, wanted: SpfWanted, texts: string[]): Promise<Proposal> {
  if (texts.join(' ').length > longestRead) return { text: null, left: [], lookups: 0 }
  const attempt = async (terms: string[], dead: string[]): Promise<Tried> => {
    const draft = compose(texts, terms, dead)
    const asked = { domain: wanted.domain, wantsAddresses: wanted.ip.length > 0, text: draft.text }
    const gathered = await gatherSpf(dns, asked)
    return { ...draft, ...weigh(gathered, wanted), lookups: gathered.lookups, dead: deadTerms(gathered) }
  }
  const first = await attempt([], [])
  const alive = first.dead.length > 0 ? await attempt([], first.dead) : first
  // What gives no answer may authorise ours, or not: ours then stand in the record themselves.
  const added = alive.isUnreadable ? termsFor(wanted) : alive.absent
  const last = added.length > 0 ? await attempt(added, first.dead) : alive
  return { text: isFit(last) ? last.text : null, left: last.left, lookups: last.lookups }
}

function isFit({ text, left, fault, absent }: Tried): boolean {
  const isClear = left.length <= mostLeft && left.join(' ').length <= longestLeft
  return isClear && fault === undefined && absent.length === 0 && text.length <= longestPasted
}
