// From the stored message to what goes over the wire.
import type { Db } from '../../kernel/db.ts'
import { type AttachmentRow, type DueRow, loadAttachments } from './delivery-queries.ts'
import { composeMail } from './mime/compose.ts'
import type { DkimKey } from './mime/dkim.ts'
import { signMail } from './mime/dkim.ts'
import { changeHtmlParts } from './mime/html-parts.ts'
import { textFromHtml } from './mime/text-from-html.ts'
import type { FillIn } from './recipient-links.ts'
import { withSecret } from './sealed-secret.ts'

export type FindDkimKeys = (accountId: string, domain: string) => Promise<DkimKey[]>
/** Puts the pixel and the tracked links in; gives the HTML back unchanged where tracking is off. */
export type Track = (due: DueRow, html: string) => Promise<string>

export type ComposeNeeds = {
  db: Db
  findDkimKeys: FindDkimKeys
  track: Track
  /** Puts the recipient's own links in; without it, they stay out. */
  fillIn?: FillIn
  now: () => Date
  /** Needed by messages that hold a secret. */
  secretKeys?: () => Promise<Buffer[]>
}

type Upstream = { signs: boolean }
/** With the files that all messages of its campaign carry. */
type Composed = DueRow & { files?: AttachmentRow[] }

export async function composeDue(needs: ComposeNeeds, due: Composed, upstream: Upstream): Promise<Buffer> {
  const raw = due.raw ? await trackRelayed(needs, due, due.raw) : await composeParts(needs, due)
  if (upstream.signs) return raw
  const keys = await needs.findDkimKeys(due.account_id, due.sender.slice(due.sender.lastIndexOf('@') + 1))
  return keys.length === 0 ? raw : signMail(raw, keys, { at: needs.now() })
}

/** What came composed is sent on as it stands, but for pixel and tracked links. */
async function trackRelayed({ track }: ComposeNeeds, due: DueRow, raw: Buffer): Promise<Buffer> {
  if (due.track.opens === false && due.track.clicks === false) return raw
  return changeHtmlParts(raw, (html) => track(due, html))
}

async function composeParts(needs: ComposeNeeds, due: Composed): Promise<Buffer> {
  if (!due.parts) throw new Error(`message ${due.id} has no body`)
  const parts = due.parts.sealed === undefined ? due.parts : await withSecret(needs, due.id, due.parts)
  const fillIn = async (text: string | undefined) =>
    text === undefined || !needs.fillIn ? text : needs.fillIn(due, text)
  const written = await fillIn(parts.html)
  const html = written === undefined ? undefined : await needs.track(due, written)
  const stored =
    due.files ?? (due.attachments > 0 ? await loadAttachments(needs.db, due.account_id, due.id) : [])
  return composeMail({
    from: parts.from,
    to: parts.to,
    cc: parts.cc,
    replyTo: parts.replyTo,
    subject: due.subject,
    html,
    // Made from what the author wrote, not from the tracked links.
    text: (await fillIn(parts.text)) ?? (written === undefined ? undefined : textFromHtml(written)),
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
