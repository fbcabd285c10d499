// A message of no campaign as a page: what its recipient got, with their own links, and the images that came with it.
import type { Db } from '../../kernel/db.ts'
import { type AttachmentRow, loadAttachments } from './delivery-queries.ts'
import { findBody } from './mirror-queries.ts'
import type { FillIn } from './recipient-links.ts'
import { encoded } from './tracking/rewrite.ts'

type Of = { accountId: string; messageId: string }

/** Nothing when the message, or what it said, is gone. */
export async function readPage(db: Db, fillIn: FillIn, { accountId, messageId }: Of) {
  const found = await findBody(db, accountId, messageId)
  if (!found) return undefined
  const { recipient } = found
  const html = found.html ?? `<pre style="white-space:pre-wrap">${encoded(found.text ?? '')}</pre>`
  const filled = await fillIn({ id: messageId, account_id: accountId, recipient }, html)
  return filled.includes('cid:')
    ? withImages(filled, await loadAttachments(db, accountId, messageId))
    : filled
}

function withImages(html: string, files: AttachmentRow[]): string {
  const images = new Map(
    files
      .filter(({ content_type }) => /^image\/[\w.+-]+$/.test(content_type))
      .map((file) => [
        file.content_id,
        `data:${file.content_type};base64,${file.content.toString('base64')}`,
      ]),
  )
  return html.replace(/\bcid:([^\s"'<>()]+)/g, (whole, id) => images.get(id) ?? whole)
}
