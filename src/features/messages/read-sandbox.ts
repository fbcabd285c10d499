import PostalMime from 'postal-mime'
import type { Ctx } from '../../kernel/ctx.ts'
import { normalEmail } from '../../kernel/email-address.ts'
import { readId, showId } from '../../kernel/id.ts'
import { pageOfRows } from '../../kernel/page.ts'
import { notFound } from '../../kernel/refusals.ts'
import { type CapturedRow, listCaptured } from './sandbox-queries.ts'

type Wanted = { to?: string; limit?: number; cursor?: string }

export async function pageOfCaptured(ctx: Ctx, { to, limit = 50, cursor }: Wanted) {
  const recipient = to === undefined ? undefined : (normalEmail(to) ?? to)
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'sandbox', filter: { to }, limit, cursor },
    (after, most) => listCaptured(ctx.db, ctx.caller.accountId, { to: recipient, after, limit: most }),
    ({ id }) => id,
  )
  return { data: await Promise.all(rows.map(showCaptured)), next_cursor: nextCursor }
}

async function showCaptured({ id, message_id, recipient, raw, received_at }: CapturedRow) {
  const mail = await PostalMime.parse(raw)
  return {
    id: showId('cap', id),
    message_id: showId('msg', message_id),
    from: mail.from?.address ?? '',
    to: recipient,
    subject: mail.subject ?? '',
    html: mail.html ?? null,
    text: mail.text ?? null,
    headers: mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    received_at: received_at.toISOString(),
  }
}

export async function readCapturedRaw(ctx: Ctx, shownId: string): Promise<Buffer> {
  const id = readId('cap', shownId)
  const [found] = id ? await listCaptured(ctx.db, ctx.caller.accountId, { id, limit: 1 }) : []
  if (!found) throw notFound({ message: 'There is no captured message of that identifier.' })
  return found.raw
}
