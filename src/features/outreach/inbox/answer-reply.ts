// A person's answer: from the mailbox that was written to, in the same thread.
import type { Ctx } from '../../../kernel/ctx.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { given, storable } from '../../../kernel/v3/lenient.ts'
import { refuseForeignSender } from '../../accounts/usage/spend-sending.ts'
import { faultOfHidden, readGround } from '../../messages/footer/ground.ts'
import { newMessageId } from '../../messages/message-id.ts'
import { isMessageId } from '../../messages/mime/safe.ts'
import { recipientSuppressed } from '../../messages/refusals.ts'
import { withPlace } from '../../messages/templates/fault.ts'
import { findSuppressed } from '../../suppressions/queries.ts'
import { requireIdentity } from '../identity/identity.ts'
import { insertOutgoing } from '../messages/queries.ts'
import { replySubject } from '../sending/compose-outreach.ts'
import { readReply } from './change-reply.ts'
import { findMailboxEmail, type ReplyRow } from './reply-queries.ts'

export type Answer = { text?: string | null; html?: string | null }

const mostRefs = 20

export async function answerReply(ctx: Ctx, id: number, answer: Answer): Promise<string> {
  const [text, html] = [given(answer.text ?? undefined), given(answer.html ?? undefined)]
  if (text === undefined && html === undefined)
    throw missingParameter({ message: 'Either of text or html is required', param: 'text' })
  refuseHiddenFooter(html ?? '')
  const reply = await readReply(ctx, id, { hold: false })
  await requireIdentity(ctx)
  await refuseSuppressed(ctx, reply)
  const { accountId, mode } = ctx.caller
  const mailbox = await findMailboxEmail(ctx.db, accountId, reply.mailbox_id)
  if (!mailbox)
    throw invalidParameter({
      message: 'The mailbox that received the message is no longer declared',
      param: 'id',
    })
  refuseForeignSender(ctx.caller, domainOf(mailbox.email))
  const made = newMessageId(domainOf(mailbox.email))
  await insertOutgoing(ctx.db, {
    ...made,
    accountId,
    sequenceId: reply.sequence_id,
    prospectId: reply.prospect_id,
    mailboxId: reply.mailbox_id,
    step: null,
    recipient: reply.sender,
    subject: replySubject(reply.subject),
    text: storable(text ?? ''),
    ...(html !== undefined && { html: storable(html) }),
    refs: threadOf(reply),
    state: 'queued',
    mode,
    at: ctx.now,
  })
  return made.messageId
}

function refuseHiddenFooter(html: string): void {
  const fault = faultOfHidden(html, readGround(html))
  if (fault) throw invalidParameter({ message: `html: ${withPlace(fault)}`, param: 'html' })
}

/** Its beginning and its end, where it is very long. */
function threadOf({ refs, message_id }: ReplyRow): string[] {
  // A stranger wrote them: what cannot stand in a header is left out.
  const all = [...new Set([...refs, ...(message_id === null ? [] : [message_id])])].filter(isMessageId)
  return all.length <= mostRefs ? all : [...all.slice(0, 1), ...all.slice(1 - mostRefs)]
}

const wishes = new Set(['unsubscribe', 'complaint'])

/** Neither who writes, nor whom they write for, when that person asked to be left alone. */
async function refuseSuppressed({ db, caller: { accountId } }: Ctx, reply: ReplyRow): Promise<void> {
  const emails = [reply.sender, ...(reply.prospect_email ? [reply.prospect_email] : [])]
  const found = await findSuppressed(
    db,
    emails.map((email) => ({ accountId, email })),
  )
  if (!found.some(({ email, reason }) => email === reply.sender || wishes.has(reason))) return
  throw recipientSuppressed({
    message: `${reply.sender} is on the suppression list, or asked not to be written to.`,
  })
}
