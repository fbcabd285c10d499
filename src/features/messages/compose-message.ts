// From the stored message to what goes over the wire.
import type { Db } from '../../kernel/db.ts'
import { type AttachmentRow, type DueRow, loadAttachments } from './delivery-queries.ts'
import { composeMail, type Mail } from './mime/compose.ts'
import type { DkimKey } from './mime/dkim.ts'
import { signMail } from './mime/dkim.ts'
import { changeHtmlParts } from './mime/html-parts.ts'
import { toSevenBit } from './mime/seven-bit.ts'
import { textFromHtml } from './mime/text-from-html.ts'
import type { Parts } from './queue-messages.ts'
import type { FillIn } from './recipient-links.ts'
import { withSecret } from './sealed-secret.ts'
import type { Sheet } from './sheet.ts'
import type { Environment } from './templates/fast-path.ts'
import { type Rewriting, rewriteHtml } from './tracking/rewrite.ts'

export type FindDkimKeys = (accountId: string, domain: string) => Promise<DkimKey[]>
/** What of a message is tracked, and by which addresses. */
export type FindTracking = (due: DueRow) => Rewriting
/** Bodies that were prepared for all recipients, and what to put into them for one. */
export type Sheets = { html: Sheet; text: Sheet; environment: Environment }

export type ComposeNeeds = {
  db: Db
  findDkimKeys: FindDkimKeys
  trackingOf: FindTracking
  /** Puts the recipient's own links in; without it, they stay out. */
  fillIn?: FillIn
  now: () => Date
  /** Needed by messages that hold a secret. */
  secretKeys?: () => Promise<Buffer[]>
}

type Upstream = { signs: boolean }
/** Of the message itself, or what its campaign has for this recipient. */
type Content = { parts: Parts | null; subject: string; files?: AttachmentRow[]; sheets?: Sheets }

export async function composeDue(
  needs: ComposeNeeds,
  due: DueRow,
  upstream: Upstream,
  content: Content = due,
): Promise<Buffer> {
  const raw = due.raw ? await trackRelayed(needs, due, due.raw) : await composeParts(needs, due, content)
  if (upstream.signs) return raw
  const keys = await needs.findDkimKeys(due.account_id, due.sender.slice(due.sender.lastIndexOf('@') + 1))
  return keys.length === 0 ? raw : signMail(raw, keys, { at: needs.now() })
}

/** What came composed is sent on as it stands, but for pixel, tracked links and octets that not every server takes. */
async function trackRelayed({ trackingOf }: ComposeNeeds, due: DueRow, raw: Buffer): Promise<Buffer> {
  if (due.track.opens === false && due.track.clicks === false) return toSevenBit(raw)
  const { pixelUrl, ...links } = trackingOf(due)
  // One pixel: a program that puts a file between two halves of a text shows both of them at every open.
  const pixels = pixelUrl === undefined ? [] : [pixelUrl]
  return toSevenBit(
    await changeHtmlParts(raw, async (html) => rewriteHtml(html, { ...links, pixelUrl: pixels.pop() })),
  )
}

async function composeParts(needs: ComposeNeeds, due: DueRow, content: Content): Promise<Buffer> {
  const { parts: given, subject, files, sheets } = content
  if (!given) throw new Error(`message ${due.id} has no body`)
  const parts = given.sealed === undefined ? given : await withSecret(needs, due.id, given)
  const stored =
    files ?? (due.attached_size > 0 ? await loadAttachments(needs.db, due.account_id, due.id) : [])
  return composeMail({
    from: parts.from,
    to: parts.to,
    cc: parts.cc,
    replyTo: parts.replyTo,
    subject,
    ...(sheets ? filledBodies(needs, due, sheets) : await writtenBodies(needs, due, parts)),
    headers: parts.headers,
    attachments: stored.map((one) => ({
      filename: one.filename,
      contentType: one.content_type,
      content: one.content,
      contentId: one.content_id ?? undefined,
    })),
    messageId: due.message_id,
    // Not the time of this try: a resend is the same message, byte for byte.
    date: due.due_from,
  })
}

type Bodies = Pick<Mail, 'html' | 'text'>

function filledBodies(needs: ComposeNeeds, due: DueRow, sheets: Sheets): Bodies {
  const { html, text, environment } = sheets
  return { html: html(environment, needs.trackingOf(due)), text: text(environment, {}) }
}

async function writtenBodies(needs: ComposeNeeds, due: DueRow, parts: Parts): Promise<Bodies> {
  const fillIn = async (text: string | undefined) =>
    text === undefined || !needs.fillIn ? text : needs.fillIn(due, text)
  const html = await fillIn(parts.html)
  const text = await fillIn(parts.text)
  if (html === undefined) return { text }
  // The text is made from what the author wrote, not from the tracked links.
  return { html: rewriteHtml(html, needs.trackingOf(due)), text: text ?? textFromHtml(html) }
}
