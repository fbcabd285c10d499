import type { Dns } from '../../../kernel/ports.ts'
import { normalName, quoted, type Reading, type Remark, reading, unreadable } from './reading.ts'
import { remembered } from './remembered.ts'
import { endOf, unreadBelow } from './spf/evaluate.ts'
import { type Gathered, gatherSpf, mostLookups, type Node } from './spf/gather.ts'
import { longestPasted, type Proposal, propose } from './spf/propose.ts'
import { type SpfWanted, takeOut, termsFor, type Weighed, weigh } from './spf/weigh.ts'

export type SpfReading = Reading & {
  /** How many further questions the record costs a receiver; one more than are counted where it is more. */
  lookups: number
  /** How the record ends: `~all` and so on. */
  policy: string | null
  /**
   * The record to publish in place of what is there. Null: none is sure to work and to keep all who send; absent: there
   * is nothing to keep, or nothing is known of it.
   */
  paste?: string | null
}

export async function readSpf(given: Dns, asked: SpfWanted): Promise<SpfReading> {
  const dns = remembered(given)
  const wanted = { ...asked, domain: normalName(asked.domain) }
  const wantsAddresses = wanted.ip.length > 0
  // What is wanted is read beside it: a record that lacks it is to be told what it would cost.
  const ours = wanted.include.map((domain) => gatherSpf(dns, { domain, wantsAddresses }))
  const [gathered] = await Promise.all([gatherSpf(dns, { domain: wanted.domain, wantsAddresses }), ...ours])
  const { root, lookups } = gathered
  const read =
    'fault' in root ? await withoutRecord(dns, root, wanted) : await judge(dns, { ...gathered, root }, wanted)
  return { ...read, lookups, policy: endOf(root) }
}

type Failed = Extract<Node, { fault: unknown }>
type Found = Gathered & { root: Exclude<Node, Failed> }
type Read = Reading & Pick<SpfReading, 'paste'>

async function withoutRecord(dns: Dns, root: Failed, wanted: SpfWanted): Promise<Read> {
  const { fault, why, texts } = root
  const { domain } = wanted
  if (fault === 'unreadable') return unreadable('SPF', domain)
  if (texts.length === 0) return reading('missing', `${domain} has no SPF record. ${publish(wanted)}`)
  const proposal = await propose(dns, wanted, texts)
  const told = (state: Reading['state'], explanation: string): Read => ({
    ...reading(state, explanation, texts),
    paste: proposal.text,
  })
  if (fault === 'none')
    return told(
      'missing',
      `${domain} has no SPF record. The TXT record ${quoted(texts[0] ?? '')} is none: it has to begin with v=spf1 ` +
        `and a space. ${changed(proposal, 'Replace it with', 'Correct it.')}`,
    )
  if (fault === 'multiple')
    return told(
      'multiple',
      `${domain} has ${texts.length} SPF records, and receivers then use none: ` +
        `${texts.slice(0, 5).map(quoted).join(' and ')}. Put their terms into one record and delete the others. ` +
        changed(proposal, 'This one takes the place of all:', ''),
    )
  return told(
    'invalid',
    `${sentence(why)} ${changed(proposal, 'Change the record to', 'Correct the record.')}`,
  )
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

function publish(wanted: SpfWanted): string {
  const terms = termsFor(wanted)
  if (terms.length === 0) return 'Publish one that names the servers it sends from.'
  return `Publish a TXT record at ${wanted.domain} with the value ${['v=spf1', ...terms, '~all'].join(' ')}`
}

/** What is not taken over is named: nobody who sends is dropped unsaid. */
function changed({ text, left }: Proposal, by: string, otherwise: string): string {
  if (text === null) return otherwise
  const without =
    left.length === 0
      ? ''
      : `Receivers cannot use ${left.map(quoted).join(', ')}, which the new value leaves out: ` +
        'write it anew if you send with it. '
  return `${without}${by} ${text}`
}

async function judge(dns: Dns, found: Found, wanted: SpfWanted): Promise<Read> {
  const { text } = found.root.record
  const weighed = weigh(found, wanted)
  const isLeft = weighed.fault === undefined && weighed.absent.length === 0
  const proposal = isLeft ? undefined : await propose(dns, wanted, [text])
  const { state, explanation } = proposal
    ? verdict(found, wanted, weighed, proposal)
    : untouched(found, wanted, weighed)
  const asItStands = text.length > longestPasted ? null : text
  return {
    ...reading(state, explanation, [text]),
    remarks: remarksOf(found.root, unreadBelow(found.root)),
    paste: proposal ? proposal.text : asItStands,
  }
}

type Verdict = Pick<Reading, 'state' | 'explanation'>

const recordOf = ({ domain }: SpfWanted) => `The SPF record of ${domain}`

function spent({ root, lookups }: Found): string {
  return `it takes ${unreadBelow(root).length > 0 ? 'at least ' : ''}${lookups} of ${mostLookups} look-ups`
}

function untouched(found: Found, wanted: SpfWanted, { isUnreadable }: Weighed): Verdict {
  const record = recordOf(wanted)
  if (isUnreadable) {
    const names = unreadBelow(found.root).map(quoted).join(', ') || 'a host in it'
    return {
      state: 'unreadable',
      explanation: `${record} could not be read to its end: ${names} gave no answer.`,
    }
  }
  const authorised = termsFor(wanted).join(', ') || 'what it names'
  return { state: 'ok', explanation: `${record} authorises ${authorised}; ${spent(found)}.` }
}

function verdict(found: Found, wanted: SpfWanted, { fault, absent }: Weighed, proposal: Proposal): Verdict {
  const record = recordOf(wanted)
  const change = changed(proposal, 'Change the record to', '')
  if (fault !== undefined)
    return { state: 'invalid', explanation: `${record} cannot be evaluated: ${fault} ${change}`.trimEnd() }
  const terms = absent.join(', ')
  const lacks = `${record} does not authorise ${terms}; ${spent(found)}`
  const isTooMuch = proposal.lookups > mostLookups
  const instead = isTooMuch
    ? `with ${terms} it would take ${proposal.lookups}, and receivers would use none of it. ` +
      `${takeOut(found.root)}. Then add ${terms} behind v=spf1.`
    : `Add ${terms} behind v=spf1.`
  const explanation = isTooMuch ? `${lacks}; ${instead}` : `${lacks}. ${change || instead}`
  return { state: 'mismatch', explanation }
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

function remarksOf(root: Found['root'], unread: string[]): Remark[] {
  const remarks: Remark[] = []
  const end = ends[endOf(root) ?? '']
  if (end) remarks.push(end)
  if (root.record.terms.some(({ kind }) => kind === 'ptr'))
    remarks.push({ code: 'ptr', message: 'The term ptr is slow and not to be used any more. Take it out.' })
  if (unread.length > 0)
    remarks.push({
      code: 'include_unreadable',
      message: `${unread.map(quoted).join(', ')} gave no answer.`,
    })
  return remarks
}
