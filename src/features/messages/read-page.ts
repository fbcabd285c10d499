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
  const { recipient, subject } = found
  const html =
    found.html ??
    `<pre style="white-space:pre-wrap;overflow-wrap:anywhere">${encoded(found.text ?? '')}</pre>`
  const filled = await fillIn({ id: messageId, account_id: accountId, recipient }, html)
  const whole = filled.includes('cid:')
    ? withImages(filled, await loadAttachments(db, accountId, messageId))
    : filled
  return { html: whole, subject }
}

// Of one that names a large image a thousand times the page would be larger than any memory.
const mostBytes = 20 * 1024 * 1024

function withImages(html: string, files: AttachmentRow[]): string {
  const isImage = ({ content_type }: AttachmentRow) => /^image\/[\w.+-]+$/.test(content_type)
  const images = new Map(files.filter(isImage).map((file) => [file.content_id, file]))
  let left = mostBytes
  return html.replace(/\bcid:([^\s"'<>()]+)/g, (whole, id) => {
    const image = images.get(id)
    if (!image || image.content.length > left) return whole
    left -= image.content.length
    return `data:${image.content_type};base64,${image.content.toString('base64')}`
  })
}
