// Anybody may have written what was captured: it is read within bounds, and what they do not let be read is shown by
// its header alone.
import { LRUCache } from 'lru-cache'
import { decodeWords } from 'postal-mime'
import type { Ctx } from '../../kernel/ctx.ts'
import { normalEmail, readAddress } from '../../kernel/email-address.ts'
import { readId, showId } from '../../kernel/id.ts'
import { pageOfRows } from '../../kernel/page.ts'
import { openParsers } from '../../kernel/parse-apart.ts'
import { notFound } from '../../kernel/refusals.ts'
import { openMail, valueIn } from './relay/mail.ts'
import { type CapturedRow, listCaptured } from './sandbox-queries.ts'

const parseApart = openParsers()
// So long a page is read.
const patienceMs = 10_000
/** By their identifiers: what could not be read is not tried again at every look. */
const unreadable = new LRUCache<string, true>({ max: 10_000 })

type Wanted = { to?: string; limit?: number; cursor?: string }

export async function pageOfCaptured(ctx: Ctx, { to, limit = 50, cursor }: Wanted) {
  const recipient = to === undefined ? undefined : (normalEmail(to) ?? to)
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'sandbox', filter: { to }, limit, cursor },
    (after, most) => listCaptured(ctx.db, ctx.caller.accountId, { to: recipient, after, limit: most }),
    ({ id }) => id,
  )
  const until = performance.now() + patienceMs
  const data = []
  // One after the other: the threads serve other pages as well.
  for (const row of rows) data.push(await showCaptured(row, until))
  return { data, next_cursor: nextCursor }
}

async function showCaptured(row: CapturedRow, until: number) {
  const { id, message_id, recipient, received_at } = row
  const { from, subject, html, text, headers } = (await readWhole(row, until)) ?? readHead(row)
  return {
    id: showId('cap', id),
    message_id: showId('msg', message_id),
    from,
    to: recipient,
    subject,
    html,
    text,
    headers,
    received_at: received_at.toISOString(),
  }
}

async function readWhole({ id, raw }: CapturedRow, until: number) {
  if (unreadable.has(id) || performance.now() > until) return undefined
  const mail = await parseApart(raw)
  if (!mail) {
    unreadable.set(id, true)
    return undefined
  }
  return {
    from: mail.from?.address ?? '',
    subject: mail.subject ?? '',
    html: mail.html ?? null,
    text: mail.text ?? null,
    headers: mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
  }
}

const longestSubject = 2_000

function readHead({ raw }: CapturedRow) {
  const mail = openMail(raw)
  const from = readAddress(valueIn(mail, 'from') ?? '')
  return {
    from: 'fault' in from ? '' : from.email,
    subject: decodeWords((valueIn(mail, 'subject') ?? '').slice(0, longestSubject)),
    html: null,
    text: null,
    headers: mail.fields.map((field) => ({
      name: field.text.slice(0, Math.max(0, field.text.indexOf(':'))),
      value: valueIn({ fields: [field] }, field.name) ?? '',
    })),
  }
}

export async function readCapturedRaw(ctx: Ctx, shownId: string): Promise<Buffer> {
  const id = readId('cap', shownId)
  const [found] = id ? await listCaptured(ctx.db, ctx.caller.accountId, { id, limit: 1 }) : []
  if (!found)
    throw notFound({
      message: 'There is no captured message of that identifier.',
      param: 'id',
      hint: 'sandbox.list (GET /api/v1/sandbox/messages) shows what was captured.',
    })
  return found.raw
}
