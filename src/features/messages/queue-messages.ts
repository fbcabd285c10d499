// A message is accepted here, whichever way it came: refuse what may not go, count it, write it, queue it.

import type { Caller } from '../../kernel/ctx.ts'
import type { Db } from '../../kernel/db.ts'
import { type Address, domainOf } from '../../kernel/email-address.ts'
import { newUuid } from '../../kernel/id.ts'
import { isUnstorable } from '../../kernel/json.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { refuseForeignSender, spendUpTo } from '../accounts/usage/spend-sending.ts'
import {
  assumeNotSuppressed,
  blockedDomain,
  blockedSender,
  findSuppressed,
  isOwnWord,
  nameOfFound,
  nameOfRef,
  type Suppressed,
  type SuppressionRef,
} from '../suppressions/queries.ts'
import { unblockingDomain } from '../suppressions/still-standing.ts'
import { hasControl } from './mime/safe.ts'
import type { Source, Stream } from './model.ts'
import { hintOfReason, recipientSuppressed } from './refusals.ts'
import { unverifiedRefusal, verifiedSenders } from './senders/verified-sender.ts'
import { isCopyOf, writeMessages } from './write-messages.ts'

export type Attachment = { filename: string; contentType: string; contentId: string | null; content: Buffer }

/** What the composer needs at hand-over, kept as JSON. */
export type Parts = {
  from: Address
  to: Address[]
  cc?: Address[]
  replyTo?: Address[]
  html?: string
  text?: string
  headers: [string, string][]
  /** The secret whose place a mark keeps in the text until the message is written. */
  sealed?: string
}

export type Track = {
  opens?: boolean
  clicks?: boolean
  /** The person has just asked for this message: their own unsubscription does not stop it. */
  asked?: true
  /** What an automation sends goes to this contact, and to nobody who has its address later. */
  contactId?: string
}

export type Outgoing = {
  /** The one that its messageId holds. */
  id?: string
  caller: Caller
  now: Date
  source: Source
  stream: Stream
  from: Address
  /** Addresses that its header names as senders beside From, held to the same rules. */
  alsoFrom?: string[]
  recipient: Address
  subject: string
  parts?: Parts
  raw?: Buffer
  attachments: Attachment[]
  tags: string[]
  metadata?: Record<string, string>
  templateId?: string
  batchId?: string
  automationId?: string
  /** What brought the recipient, for the counts: a list, and the source of their consent. */
  listId?: string
  consentSource?: string
  messageId: string
  scheduledAt?: Date
  track: Track
  /** A suppressed recipient is refused, or recorded as such beside others that are sent. */
  suppressed: 'refuse' | 'record'
  /** A moment ago it was not suppressed. */
  isRecipientChecked?: boolean
}

export type Queued = { id: string; status: 'queued' | 'suppressed'; outgoing: Outgoing }

/** Messages of one call go together: none is sent where one is refused, and the refusal is about all of them. */
type Going = 'singly' | 'together'

export async function queueMessages(
  db: Db,
  outgoing: Outgoing[],
  going: Going = 'singly',
): Promise<(Queued | Refusal)[]> {
  const results: (Queued | Refusal)[] = admitAll(outgoing)
  await refuseUnproven(db, results)
  await markSuppressed(db, results)
  // The counters of a key stay locked to the commit, and other batches wait for them: taken last where all may go.
  if (!db.optimistic) await countAgainstCaps(db, results, going)
  await writeMessages(
    db,
    results.filter((result): result is Queued => !(result instanceof Refusal)),
  )
  if (db.optimistic) await countAgainstCaps(db, results, going)
  return results
}

/** Copies of one message are looked at once: what each of them holds may name all the others. */
function admitAll(outgoing: Outgoing[]): (Queued | Refusal)[] {
  let before: Outgoing | undefined
  let refusal: Refusal | undefined
  return outgoing.map((one) => {
    if (!before || !isCopyOf(before, one)) refusal = refusalOf(one)
    before = one
    return refusal ?? { id: one.id ?? newUuid(), status: 'queued', outgoing: one }
  })
}

function refusalOf(outgoing: Outgoing): Refusal | undefined {
  try {
    refuseUnwritable(outgoing)
    for (const email of sendersOf(outgoing)) refuseForeignSender(outgoing.caller, domainOf(email))
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

const sendersOf = ({ from, alsoFrom = [] }: Outgoing) => [from.email, ...alsoFrom]

// What composing or storing would choke on is refused now: an accepted message is one that can be sent.
function refuseUnwritable({ raw, parts, subject, attachments, metadata = {} }: Outgoing): void {
  const { from, to = [], cc = [], replyTo = [], html = '', text = '' } = parts ?? {}
  const names = [from, ...to, ...cc, ...replyTo].map((one) => one?.name ?? '')
  const files = attachments.map(({ filename }) => filename)
  const inHeaders = { subject: raw ? [] : [subject], name: names, filename: files }
  const stored = { html: [html], text: [text], metadata: Object.entries(metadata).flat() }
  for (const [param, values] of Object.entries(inHeaders))
    if (values.some(hasControl))
      throw invalidParameter({ param, message: `${param} contains a line break or control character.` })
  for (const [param, values] of Object.entries(stored))
    if (values.some(isUnstorable))
      throw invalidParameter({ param, message: `${param} contains NUL or half of a surrogate pair.` })
}

/** Costs nothing where no account asks for it. */
async function refuseUnproven(db: Db, results: (Queued | Refusal)[]): Promise<void> {
  const places = [...results.keys()].filter((place) => {
    const result = results[place]
    return result && !(result instanceof Refusal) && result.outgoing.caller.verifiedSenderOnly
  })
  if (places.length === 0) return
  const sendersAt = (place: number) => {
    const { outgoing } = results[place] as Queued
    return sendersOf(outgoing).map((email) => ({ accountId: outgoing.caller.accountId, email }))
  }
  const isVerified = await verifiedSenders(db, places.flatMap(sendersAt))
  const refusals = new Map<string, Refusal>()
  for (const place of places) {
    const unproven = sendersAt(place).find((ref) => !isVerified(ref))
    if (!unproven) continue
    const name = `${unproven.accountId} ${unproven.email}`
    const known = refusals.get(name) ?? (await unverifiedRefusal(db, unproven))
    refusals.set(name, known)
    results[place] = known
  }
}

async function markSuppressed(db: Db, results: (Queued | Refusal)[]): Promise<void> {
  const queued = results.filter((result): result is Queued => !(result instanceof Refusal))
  if (queued.length === 0) return
  const outgoing = queued.map((one) => one.outgoing)
  if (assumesFree(db, outgoing)) return assumeNotSuppressed(db, outgoing.map(refOf))
  const found = await findSuppressedOf(db, outgoing)
  results.forEach((result, i) => {
    if (result instanceof Refusal) return
    const ref = refOf(result.outgoing)
    const hit = found.get(nameOfRef(ref))
    if (!hit || (result.outgoing.track.asked && isOwnWord(hit))) return
    if (result.outgoing.suppressed === 'record') result.status = 'suppressed'
    else results[i] = suppressedRefusal(ref.email, hit.reason)
  })
}

const doubtOf = (accountId: string) => `suppressed ${accountId}`

/**
 * Whether these may be written on the assumption that nobody is suppressed: not where that was not so of an account a
 * moment ago, nor where the person has asked for a message, which goes to some of those that are.
 */
export function assumesFree({ optimistic, doubts }: Db, outgoing: Outgoing[]): boolean {
  const isLikelyFree = ({ caller, track, isRecipientChecked }: Outgoing) =>
    isRecipientChecked || !(track.asked || doubts.has(doubtOf(caller.accountId)))
  return optimistic && outgoing.every(isLikelyFree)
}

/** By the names of their references. */
export async function findSuppressedOf(db: Db, outgoing: Outgoing[]): Promise<Map<string, Suppressed>> {
  if (outgoing.length === 0) return new Map()
  const found = await findSuppressed(db, outgoing.map(refOf))
  for (const { account_id } of found) db.doubts.add(doubtOf(account_id))
  return new Map(found.map((one) => [nameOfFound(one), one]))
}

/** Senders are blocked for transactional mail alone. */
export function refOf({ caller, recipient, from, stream }: Outgoing): SuppressionRef {
  const sender = stream === 'transactional' ? from.email.toLowerCase() : undefined
  return { accountId: caller.accountId, email: recipient.email.toLowerCase(), sender }
}

function blockedSenderRefusal(email: string, param: string): Refusal {
  return recipientSuppressed({
    message: `${email} is blocked for this sender.`,
    param,
    hint: 'Unblock it with DELETE /v3/smtp/blockedContacts/{email} only if the person asked for that.',
  })
}

/** What lifts it, where something does: nothing brings an erased person back. */
export function suppressedRefusal(email: string, reason: string, param = 'to'): Refusal {
  if (reason === 'erased')
    return recipientSuppressed({
      message: `${email} belongs to somebody whose data was erased, and is not written to any more.`,
      param,
    })
  if (reason === blockedDomain) return domainRefusal(email, param)
  if (reason === blockedSender) return blockedSenderRefusal(email, param)
  return recipientSuppressed({
    message: `${email} is on the suppression list (${reason}).`,
    param,
    hint: hintOfReason(reason),
    action: {
      operation: 'suppression.delete',
      method: 'DELETE',
      path: `/api/v1/suppressions/${encodeURIComponent(email)}`,
      scope: 'contacts.write',
    },
  })
}

function domainRefusal(email: string, param: string): Refusal {
  const domain = email.slice(email.lastIndexOf('@') + 1)
  return recipientSuppressed({
    message: `${email} is not written to: the domain ${domain} is blocked.`,
    param,
    action: unblockingDomain(domain),
  })
}

/** Per key, in the order of keys, so that two batches lock the counters in the same order. */
async function countAgainstCaps(db: Db, results: (Queued | Refusal)[], going: Going): Promise<void> {
  const byKey = new Map<string, number[]>()
  results.forEach((result, i) => {
    if (result instanceof Refusal || result.status !== 'queued') return
    const { accountId, keyId } = result.outgoing.caller
    const name = `${accountId.padStart(20, '0')} ${keyId}`
    const places = byKey.get(name)
    if (places) places.push(i)
    else byKey.set(name, [i])
  })
  for (const [, places] of [...byKey].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const first = results[places[0] ?? 0] as Queued
    const { caller, now } = first.outgoing
    const { granted, ...why } = await spendUpTo(db, caller, places.length, now)
    const refusal = going === 'together' ? why.refusalOfAll : why.refusal
    for (const place of places.slice(granted)) if (refusal) results[place] = refusal
  }
}
