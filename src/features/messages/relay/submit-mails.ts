// From messages as the relay took them to queued ones, a row for each recipient.
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { domainOf, readEmail } from '../../../kernel/email-address.ts'
import { newUuid } from '../../../kernel/id.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { payloadTooLarge } from '../../../kernel/refusals.ts'
import { refuseForeignSender } from '../../accounts/usage/spend-sending.ts'
import { findSuppressed, nameOfFound, nameOfRef } from '../../suppressions/queries.ts'
import { newMessageId } from '../message-id.ts'
import { type Outgoing, type Queued, refOf, suppressedRefusal } from '../queue-messages.ts'
import { recipientInvalid } from '../refusals.ts'
import { refuseUnverified } from '../senders/verified-sender.ts'
import type { RelayedMail } from './mail.ts'
import { type Group, queueWhole } from './queue-whole.ts'
import { isForNobody, readMail, readOtherSenders } from './read-mail.ts'
import { rewriteMail } from './rewrite-mail.ts'

export type Submission = { ctx: Ctx; envelopeFrom: string; recipients: string[]; mail: RelayedMail }

/** `by` is our name in the Received line. */
export async function submitMails(
  db: Db,
  submissions: Submission[],
  by: string,
): Promise<(Queued[] | Refusal)[]> {
  const prepared = submissions.map((one) => groupOrRefusal(one, by))
  // Each was looked at when it was named.
  const checked = db.optimistic ? prepared : await refuseSuppressed(db, prepared)
  const dropped = new Set(prepared.filter((_, i) => submissions[i] && isForNobody(submissions[i].mail)))
  const good = checked.filter((one): one is Group => !(one instanceof Refusal))
  const groups = good.filter((one) => !dropped.has(one))
  const queued = await queueWhole(db, groups)
  const results = new Map(groups.map((group, i) => [group, queued[i]]))
  for (const one of good.filter((group) => dropped.has(group))) results.set(one, await sendNowhere(db, one))
  return checked.map((one) => {
    const result = one instanceof Refusal ? one : results.get(one)
    if (!result) throw new Error('a message was neither queued nor refused')
    return result
  })
}

/** Answered as if it had been queued. It obeys the rules of the key as well. */
async function sendNowhere(db: Db, group: Group): Promise<Queued[] | Refusal> {
  const [first] = group
  try {
    if (first) await refuseUnverified(db, first.caller, first.from.email)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  return group.map((outgoing) => ({ id: outgoing.id ?? newUuid(), status: 'queued', outgoing }))
}

function groupOrRefusal(submission: Submission, by: string): Group | Refusal {
  try {
    return groupOf(submission, by)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

// Every recipient has a copy of its own in the database.
const mostBytesInAll = 200 * 1024 * 1024

function groupOf({ ctx, envelopeFrom, recipients, mail }: Submission, by: string): Group {
  const { caller, now, requestId } = ctx
  // The null sender has no domain; the From header is checked either way.
  if (envelopeFrom !== '') refuseForeignSender(caller, domainOf(envelopeFrom))
  const read = readMail(mail)
  const domain = domainOf(read.from.email)
  refuseForeignSender(caller, domain)
  const isBound = caller.senderDomains !== null || caller.verifiedSenderOnly
  const made = newMessageId(domain)
  const messageId = read.messageId ?? made.messageId
  const raw = rewriteMail(mail, { by, requestId, now, messageId })
  const emails = uniqueEmails(recipients)
  if (raw.length * emails.length > mostBytesInAll)
    throw payloadTooLarge({ message: 'The message is too large for so many recipients; send it to fewer.' })
  const shared = {
    ...{ caller, now, raw, messageId, from: read.from, subject: read.subject, metadata: read.metadata },
    alsoFrom: isBound ? readOtherSenders(mail) : undefined,
    source: 'smtp' as const,
    stream: 'transactional' as const,
    attachments: [],
    tags: read.tag === undefined ? [] : [read.tag],
    batchId: emails.length > 1 ? newUuid() : undefined,
    track: read.track,
    suppressed: emails.length > 1 ? ('record' as const) : ('refuse' as const),
    isRecipientChecked: true,
  }
  const id = messageId === made.messageId ? made.id : undefined
  return emails.map((email, n) => ({
    ...shared,
    id: n === 0 ? id : undefined,
    recipient: { email },
    parts: partsFor(shared.from, email),
  }))
}

// Rows hold recipients in lower case; where that would change the address, the hand-over reads it here.
function partsFor(from: Outgoing['from'], email: string): Outgoing['parts'] {
  return email === email.toLowerCase() ? undefined : { from, to: [{ email }], headers: [] }
}

function uniqueEmails(recipients: string[]): string[] {
  const found = new Map<string, string>()
  for (const given of recipients) {
    const email = readEmail(given)
    if (email === undefined) throw recipientInvalid({ param: 'recipients' })
    if (!found.has(email.toLowerCase())) found.set(email.toLowerCase(), email)
  }
  return [...found.values()]
}

/** A message of which nobody would get anything is refused; beside others, a suppressed recipient is recorded. */
async function refuseSuppressed(db: Db, prepared: (Group | Refusal)[]): Promise<(Group | Refusal)[]> {
  // One that goes to a single recipient is refused where it is queued.
  const refs = prepared.flatMap((one) => (one instanceof Refusal || one.length === 1 ? [] : one.map(refOf)))
  if (refs.length === 0) return prepared
  const found = await findSuppressed(db, refs)
  const reasons = new Map(found.map((one) => [nameOfFound(one), one.reason]))
  return prepared.map((one) => {
    if (one instanceof Refusal) return one
    const hits = one.map(refOf).flatMap((ref) => {
      const reason = reasons.get(nameOfRef(ref))
      return reason === undefined ? [] : { email: ref.email, reason }
    })
    const [first] = hits
    return first && hits.length === one.length ? suppressedRefusal(first.email, first.reason) : one
  })
}
