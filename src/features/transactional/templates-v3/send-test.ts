// A template as its readers would see it, sent to its authors: marked as a test, and not tracked.
import type { Ctx } from '../../../kernel/ctx.ts'
import { type Address, domainOf, readAddress } from '../../../kernel/email-address.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { newMessageId } from '../../messages/message-id.ts'
import { type Outgoing, queueMessages } from '../../messages/queue-messages.ts'
import { testLinks, testToken } from '../../messages/recipient-links.ts'
import { toFieldSource } from '../../messages/templates/old-names.ts'
import { type RenderTime, renderTime } from '../../messages/templates/turns.ts'
import { weighed } from '../../messages/weigh.ts'
import { type AttachedFiles, filesFor } from '../attached-file.ts'
import { contactScope } from '../contact-scope.ts'
import { distinct, readMailboxes } from '../v3/addresses.ts'
import { type Rendered, renderContent, renderName } from '../v3/render.ts'
import { markTestSent, type TemplateRow } from './queries.ts'
import { sentTemplate } from './write-template.ts'

const mostTests = 50

type Test = { emailTo: string[]; files: AttachedFiles; baseUrl: string }

export async function sendTest(ctx: Ctx, id: number, { emailTo, files, baseUrl }: Test): Promise<void> {
  const template = await sentTemplate(ctx, id)
  const mailboxes = emailTo.map((email) => ({ email }))
  const recipients = distinct(readMailboxes(mailboxes, 'emailTo'))
  if (recipients.length === 0) throw missingParameter({ message: 'emailTo is missing', param: 'emailTo' })
  if (recipients.length > mostTests) {
    throw invalidParameter({ message: `emailTo must have at most ${mostTests} entries`, param: 'emailTo' })
  }
  const { messageId } = newMessageId(domainOf(template.sender.email))
  const attachments = filesFor(template, files)
  const time = renderTime(recipients.length)
  const tests: Outgoing[] = []
  const weight = weighed()
  for (const recipient of recipients) {
    const rendered = await renderFor(ctx, template, recipient, { baseUrl, time })
    const test = { ...testOf(ctx, template, rendered), attachments, messageId }
    weight.add([test])
    tests.push(test)
  }
  const results = await queueMessages(ctx.db, tests)
  const refused = results.find((result) => result instanceof Refusal)
  if (refused) throw refused
  await markTestSent(ctx.db, ctx.caller.accountId, template.id)
}

type RenderedTest = Rendered & { from: Address; to: Address }

/** As the author would get it; links that would change something lead to a page that says they are a test's. */
async function renderFor(
  ctx: Ctx,
  { subject, html, sender, to_field }: TemplateRow,
  recipient: Address,
  { baseUrl, time }: { baseUrl: string; time: RenderTime },
): Promise<RenderedTest> {
  const toField = toFieldSource(to_field)
  const reader = await contactScope(ctx, recipient.email, [subject, html, sender.name, toField])
  const doubleoptin = `${baseUrl}/c/${testToken}`
  const scope = { ...reader, ...testLinks(baseUrl), doubleoptin, params: { DOIurl: doubleoptin } }
  return {
    ...(await renderContent({ subject, html }, scope, time)),
    from: await renderName(sender, scope, 'sender', time),
    to: await renderName({ email: recipient.email, name: toField }, scope, 'toField', time),
  }
}

function testOf(
  ctx: Ctx,
  template: TemplateRow,
  { subject, html, from, to }: RenderedTest,
): Omit<Outgoing, 'messageId' | 'attachments'> {
  const read = template.reply_to === null ? undefined : readAddress(template.reply_to)
  const replyTo = read && !('fault' in read) ? [read] : undefined
  return {
    caller: ctx.caller,
    now: ctx.now,
    source: 'api',
    stream: 'transactional',
    from,
    recipient: to,
    subject: `[TEST] ${subject}`,
    parts: { from, to: [to], replyTo, html, headers: [] },
    tags: [],
    metadata: { test: 'true' },
    templateId: template.id,
    track: { opens: false, clicks: false },
    suppressed: 'refuse',
  }
}
