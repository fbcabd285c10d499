// What was accepted is written: its row, its place in the queue, its body and its files.
import type { Db } from '../../kernel/db.ts'
import {
  type BodyCopy,
  type Copy,
  copyAttachments,
  copyBodies,
  insertAttachment,
  insertBodies,
  insertBodiesNow,
  insertMessages,
  type NewAttachment,
  type NewBody,
  type NewMessage,
} from './insert-queries.ts'
import { lanes } from './model.ts'
import { partsSize } from './parts-size.ts'
import type { Outgoing, Queued } from './queue-messages.ts'

/** For another recipient, and the same in all else. What came composed has its recipient in its parts. */
export function isCopyOf(one: Outgoing, other: Outgoing): boolean {
  return (
    (one.raw ? one.raw === other.raw : one.parts !== undefined && one.parts === other.parts) &&
    one.track === other.track &&
    one.attachments === other.attachments &&
    one.caller === other.caller &&
    one.from === other.from &&
    one.alsoFrom === other.alsoFrom &&
    one.subject === other.subject &&
    one.metadata === other.metadata
  )
}

export async function writeMessages(db: Db, queued: Queued[]): Promise<void> {
  if (queued.length === 0) return
  const bodies = partedBodies(queued)
  const files = partedFiles(queued)
  const [lastBodies, ...earlier] = portionsOf(bodies.firsts).reverse()
  for (const portion of earlier) await insertBodiesNow(db, portion.map(bodyOf))
  const written = [
    insertMessages(db, queued.map(rowOf)),
    insertBodies(db, (lastBodies ?? []).map(bodyOf)),
    ...files.firsts.map((file) => insertAttachment(db, file)),
  ]
  await Promise.all(written)
  if (bodies.copies.length > 0) await copyBodies(db, bodies.copies)
  if (files.copies.length > 0) await copyAttachments(db, files.copies)
}

// What is on its way to the database is in memory several times over.
const largestPortion = 8 * 1024 * 1024

/** Nearly always one. */
function portionsOf(queued: Queued[]): Queued[][] {
  const portions: Queued[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const one of queued) {
    const own = sizeOf(one)
    size += own
    if (size > largestPortion) {
      portions.push([])
      size = own
    }
    portions.at(-1)?.push(one)
  }
  return portions
}

const sizeOf = ({ outgoing: { raw, parts } }: Queued) => (raw?.length ?? 0) + partsSize(parts)

/**
 * Of a message for many recipients, the first is handed to the database and copied there: each of a hundred would take
 * the whole of it over the wire otherwise.
 */
function partedBodies(queued: Queued[]) {
  const firsts: Queued[] = []
  const copies: BodyCopy[] = []
  for (const one of queued) {
    const first = firsts.at(-1)
    if (!first || !isCopyOf(first.outgoing, one.outgoing)) firsts.push(one)
    else copies.push(copyOf(one, first.id))
  }
  return { firsts, copies }
}

/** Messages that differ may have the same files. */
function partedFiles(queued: Queued[]) {
  const firsts: NewAttachment[] = []
  const copies: Copy[] = []
  const known = new Map<Outgoing['attachments'], string>()
  for (const { id, outgoing } of queued) {
    const { attachments, caller } = outgoing
    if (attachments.length === 0) continue
    const firstId = known.get(attachments)
    if (firstId !== undefined) copies.push({ messageId: id, firstId })
    else {
      known.set(attachments, id)
      const { accountId } = caller
      firsts.push(...attachments.map((one, position) => ({ ...one, messageId: id, accountId, position })))
    }
  }
  return { firsts, copies }
}

function copyOf({ id, outgoing }: Queued, firstId: string): BodyCopy {
  const { raw, parts } = outgoing
  const ownTrack = lettersOf(outgoing) === undefined ? null : trackOf(outgoing)
  return { messageId: id, firstId, ownParts: raw && parts ? JSON.stringify(parts) : null, ownTrack }
}

/** Of whom no header names, when their address has capitals: the row of the message has none. */
function lettersOf({ recipient: { email }, parts }: Outgoing): string | undefined {
  if (!parts || email === email.toLowerCase()) return undefined
  const isShown = [...parts.to, ...(parts.cc ?? [])].some((one) => one.email === email)
  return isShown ? undefined : email
}

function trackOf(outgoing: Outgoing): string {
  const letters = lettersOf(outgoing)
  return JSON.stringify(letters === undefined ? outgoing.track : { ...outgoing.track, letters })
}

function bodyOf({ id, outgoing }: Queued): NewBody {
  return {
    messageId: id,
    accountId: outgoing.caller.accountId,
    parts: outgoing.parts ? JSON.stringify(outgoing.parts) : null,
    raw: outgoing.raw ?? null,
    track: trackOf(outgoing),
  }
}

function rowOf({ id, status, outgoing }: Queued): NewMessage {
  const { caller, from, recipient, tags, metadata } = outgoing
  return {
    id,
    accountId: caller.accountId,
    keyId: caller.keyId,
    status,
    source: outgoing.source,
    mode: caller.mode,
    stream: outgoing.stream,
    lane: lanes[outgoing.stream],
    sender: from.email,
    senderName: from.name ?? null,
    recipient: recipient.email.toLowerCase(),
    recipientName: recipient.name ?? null,
    subject: outgoing.subject,
    tags: tags.length > 0 ? tags : null,
    metadata: metadata ?? null,
    templateId: outgoing.templateId ?? null,
    batchId: outgoing.batchId ?? null,
    automationId: outgoing.automationId ?? null,
    listId: outgoing.listId,
    consentSource: outgoing.consentSource,
    messageId: outgoing.messageId,
    createdAt: outgoing.now,
    scheduledAt: outgoing.scheduledAt ?? null,
  }
}
