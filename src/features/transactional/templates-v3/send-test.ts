// A template as its readers would see it, sent to its authors: marked as a test, and not tracked.
import type { Ctx } from '../../../kernel/ctx.ts'
import { type Address, domainOf, readAddress } from '../../../kernel/email-address.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { newMessageId } from '../../messages/message-id.ts'
import { type Outgoing, queueMessages } from '../../messages/queue-messages.ts'
import { type AttachedFiles, filesFor } from '../attached-file.ts'
import { distinct, readMailboxes } from '../v3/addresses.ts'
import { type Rendered, renderContent, renderName } from '../v3/render.ts'
import { markTestSent, type TemplateRow } from './queries.ts'
import { readTemplate } from './write-template.ts'

const mostTests = 50

type Test = { emailTo: string[]; files: AttachedFiles }

export async function sendTest(ctx: Ctx, id: number, { emailTo, files }: Test): Promise<void> {
  const stored = await readTemplate(ctx, id)
  const mailboxes = emailTo.map((email) => ({ email }))
  const recipients = distinct(readMailboxes(mailboxes, 'emailTo'))
  if (recipients.length === 0) throw missingParameter({ message: 'emailTo is missing', param: 'emailTo' })
  if (recipients.length > mostTests) {
    throw invalidParameter({ message: `emailTo must have at most ${mostTests} entries`, param: 'emailTo' })
  }
  const rendered = await renderContent({ subject: stored.subject, html: stored.html }, { params: {} })
  const template = { ...stored, sender: await renderName(stored.sender, { params: {} }, 'sender') }
  const { messageId } = newMessageId(domainOf(template.sender.email))
  const attachments = filesFor(template, files)
  const results = await queueMessages(
    ctx.db,
    recipients.map((recipient) => ({
      ...testOf(ctx, template, rendered, recipient),
      attachments,
      messageId,
    })),
  )
  const refused = results.find((result) => result instanceof Refusal)
  if (refused) throw refused
  await markTestSent(ctx.db, ctx.caller.accountId, template.id)
}

function testOf(
  ctx: Ctx,
  template: TemplateRow,
  rendered: Rendered,
  recipient: Address,
): Omit<Outgoing, 'messageId' | 'attachments'> {
  const from = template.sender
  const read = template.reply_to === null ? undefined : readAddress(template.reply_to)
  const replyTo = read && !('fault' in read) ? [read] : undefined
  return {
    caller: ctx.caller,
    now: ctx.now,
    source: 'api',
    stream: 'transactional',
    from,
    recipient,
    subject: `[TEST] ${rendered.subject}`,
    parts: { from, to: [recipient], replyTo, html: rendered.html, headers: [] },
    tags: [],
    metadata: { test: 'true' },
    templateId: template.id,
    track: { opens: false, clicks: false },
    suppressed: 'refuse',
  }
}
