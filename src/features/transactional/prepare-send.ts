// From the body of a send to a message that can be queued, or to all that stands in the way.

import { collector, together } from '../../kernel/collect.ts'
import type { Ctx } from '../../kernel/ctx.ts'
import { type Address, domainOf, readAddress } from '../../kernel/email-address.ts'
import { isUnstorable } from '../../kernel/json.ts'
import type { Action, Refusal } from '../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { newMessageId } from '../messages/message-id.ts'
import { hasControl } from '../messages/mime/safe.ts'
import { faultOfLongSubject, longestSubject } from '../messages/model.ts'
import type { Attachment, Outgoing, Parts } from '../messages/queue-messages.ts'
import { contentMissing, recipientInvalid, templateInvalid } from '../messages/refusals.ts'
import { type compileTemplate, type TemplateScope, templateCache } from '../messages/templates/compile.ts'
import { isTemplateFault, withPlace } from '../messages/templates/fault.ts'
import { inTurn, type RenderTime, renderTime } from '../messages/templates/turns.ts'
import { type AttachedFiles, filesFor } from './attached-file.ts'
import { contactScope } from './contact-scope.ts'
import { lookup } from './content-types.ts'
import { faultsIn } from './field-faults.ts'
import type { SendDraft, SendRequest } from './send-request.ts'
import { storedTemplate, templatesHint } from './stored-template.ts'
import type { UsedTemplate } from './template-queries.ts'

const compiled = templateCache({ max: 500 })

export type Rendered = { subject: string; html?: string; text?: string }

export async function prepareSend(ctx: Ctx, body: SendRequest, files: AttachedFiles): Promise<Outgoing> {
  const { refusals, recipient, template, from, replyTo, rendered } = await readSend(ctx, body)
  const refused = together(refusals)
  if (refused) throw refused
  if (!recipient || !from || !rendered) throw new Error('a send was neither read nor refused')
  const parts: Parts = {
    from,
    to: [recipient],
    replyTo,
    html: rendered.html,
    text: rendered.text,
    headers: Object.entries(body.headers ?? {}),
  }
  return {
    caller: ctx.caller,
    now: ctx.now,
    source: 'api',
    stream: 'transactional',
    from,
    recipient,
    subject: rendered.subject,
    parts,
    attachments: [...(body.attachments ?? []).map(readAttachment), ...filesFor(template, files)],
    tags: [body.tag ?? template?.tag ?? ''].filter((tag) => tag !== ''),
    metadata: body.metadata,
    templateId: template?.id,
    ...newMessageId(domainOf(from.email)),
    scheduledAt: body.scheduled_at === undefined ? undefined : new Date(body.scheduled_at),
    track: { opens: body.track_opens, clicks: body.track_clicks },
    suppressed: 'refuse',
  }
}

export type ReadSend = {
  refusals: Refusal[]
  recipient: Address | undefined
  template: UsedTemplate | undefined
  from: Address | undefined
  replyTo: Address[] | undefined
  rendered: Rendered | undefined
}

const nothing: ReadonlySet<string> = new Set()

/**
 * What a body says, and all that is wrong with it: no step stops the others. Fields that were found faulty before are
 * not in the body; nothing is said of them again.
 */
export async function readSend(ctx: Ctx, body: SendDraft, faulty = nothing): Promise<ReadSend> {
  const { refusals, step } = collector()
  for (const { message, param } of faultsIn(ctx, body)) refusals.push(invalidParameter({ message, param }))
  const recipient = faulty.has('to') ? undefined : await step(() => readRecipient(body.to))
  const template = await step(() => usedTemplate(ctx, body))
  // A template that cannot be used has been reported; what it would have brought cannot be judged.
  const isLost = faulty.has('template_id') || (body.template_id !== undefined && template === undefined)
  const isSenderLost = faulty.has('from') || (isLost && body.from === undefined)
  const from = isSenderLost ? undefined : await step(() => senderOf(ctx, body, template))
  const replyTo = await step(() => replyToOf(body, template))
  const before = refusals.length
  if (!isLost && !faulty.has('html') && !faulty.has('text')) await step(() => refuseNoContent(body, template))
  if (!isLost && !faulty.has('subject')) await step(() => refuseNoSubject(body, template))
  const isWhole = !isLost && refusals.length === before
  const read = { refusals, recipient, template, from, replyTo }
  const spoken = isWhole ? await step(() => renderAll(ctx, body, read)) : undefined
  return { ...read, ...spoken, rendered: spoken?.rendered }
}

function readAttachment(given: NonNullable<SendRequest['attachments']>[number]): Attachment {
  return {
    filename: given.filename,
    contentType: given.content_type ?? lookup(given.filename),
    contentId: given.content_id ?? null,
    content: Buffer.from(given.content, 'base64'),
  }
}

/** Where mail is relayed, such a name may yet be decoded; here it stands as it will be written. */
function readMailbox(given: string | Address): Address | { fault: string } {
  const read = readAddress(given)
  const isWritable = 'fault' in read || !hasControl(read.name ?? '')
  return isWritable ? read : { fault: 'has a name with control characters' }
}

function readRecipient(to: SendDraft['to']): Address {
  if (to === undefined) throw missingParameter({ message: 'to is missing.', param: 'to' })
  const read = readMailbox(to)
  if ('fault' in read) throw recipientInvalid({ message: `to ${read.fault}.`, param: 'to' })
  return read
}

export async function usedTemplate(ctx: Ctx, { template_id }: SendDraft): Promise<UsedTemplate | undefined> {
  if (template_id === undefined) return undefined
  const found = await storedTemplate(ctx.db, ctx.caller.accountId, template_id)
  const about = { param: 'template_id', hint: templatesHint }
  if (!found) throw templateInvalid({ message: `There is no template ${template_id}.`, ...about })
  if (!found.is_active) throw templateInvalid({ message: `Template ${template_id} is not active.`, ...about })
  return found
}

export const settingTheSender: Action = {
  operation: 'settings.update',
  method: 'PUT',
  path: '/api/v1/settings',
  scope: 'settings.write',
}

export async function senderOf(
  ctx: Ctx,
  { from }: SendDraft,
  template: UsedTemplate | undefined,
): Promise<Address> {
  const given = from ?? template?.sender ?? (await readSettings(ctx)).default_sender
  if (!given) {
    throw missingParameter({
      message: 'from is missing, and the account has no default sender.',
      param: 'from',
      action: settingTheSender,
    })
  }
  const read = readMailbox(given)
  if ('fault' in read) throw invalidParameter({ message: `from ${read.fault}.`, param: 'from' })
  return read
}

function replyToOf({ reply_to }: SendDraft, template: UsedTemplate | undefined): Address[] | undefined {
  const given = reply_to ?? template?.reply_to ?? undefined
  if (given === undefined) return undefined
  const read = readMailbox(given)
  if ('fault' in read) throw invalidParameter({ message: `reply_to ${read.fault}.`, param: 'reply_to' })
  return [read]
}

function contentOf(body: SendDraft, template: UsedTemplate | undefined) {
  return {
    subject: body.subject ?? template?.subject ?? '',
    html: body.html || template?.html || undefined,
    text: body.text || undefined,
  }
}

function refuseNoContent(body: SendDraft, template: UsedTemplate | undefined): void {
  const { html, text } = contentOf(body, template)
  if (html === undefined && text === undefined) throw contentMissing({ param: 'html' })
}

function refuseNoSubject(body: SendDraft, template: UsedTemplate | undefined): void {
  if (contentOf(body, template).subject.trim() !== '') return
  throw contentMissing({ message: 'The message has no subject.', param: 'subject' })
}

/** Inline contents are templates when there are params; a stored one always is, and so is its sender's name. */
async function renderAll(
  ctx: Ctx,
  body: SendDraft,
  { template, recipient, from }: Omit<ReadSend, 'rendered'>,
): Promise<Pick<ReadSend, 'from' | 'rendered'>> {
  const isTemplate = template !== undefined || body.params !== undefined
  const content = contentOf(body, template)
  if (!isTemplate) return { from, rendered: content }
  const isStoredSender = body.from === undefined && template?.sender != null
  const sources = [content.subject, content.html, content.text, isStoredSender ? from?.name : undefined]
  const reader = await contactScope(ctx, recipient?.email, sources)
  const scope: TemplateScope = { params: body.params ?? {}, ...reader }
  const time = renderTime()
  const html = body.html ? 'html' : 'template_id'
  return {
    from: from && isStoredSender ? await renderSender(from, (one) => written(one, scope, time)) : from,
    rendered: await renderContent(content, { html }, (one) => written(one, scope, time)),
  }
}

type Render = (one: Written) => Promise<string>

/** A name that renders to nothing is none. */
async function renderSender({ email, name = '' }: Address, render: Render): Promise<Address> {
  const header = 'The name of the sender'
  const rendered = await render({ source: name, kind: 'text', param: 'template_id', header })
  return rendered === '' ? { email } : { email, name: rendered }
}

/** `named`: the field to which faults of the HTML belong. */
async function renderContent(
  { subject, html, text }: Rendered,
  named: { html: string },
  render: Render,
): Promise<Rendered> {
  const written = await render({ source: subject, kind: 'text', param: 'subject', header: 'The subject' })
  if (written.length > longestSubject)
    throw invalidParameter({
      message: `${faultOfLongSubject} once its values are filled in.`,
      param: 'subject',
    })
  return {
    subject: written,
    html: html === undefined ? undefined : await render({ source: html, kind: 'html', param: named.html }),
    text: text === undefined ? undefined : await render({ source: text, kind: 'text', param: 'text' }),
  }
}

type Kind = Parameters<typeof compileTemplate>[1]
/** `header`: what it is called where it stands in the header of the message. */
type Written = { source: string; kind: Kind; param: string; header?: string }

async function written({ source, kind, param, header }: Written, scope: TemplateScope, time: RenderTime) {
  try {
    const template = await inTurn(() => compiled(header ? unbroken(source) : source, kind), time)
    const rendered = await template.render(scope, time)
    return header ? lineOf(rendered, header, param) : textOf(rendered, param)
  } catch (error) {
    if (!isTemplateFault(error)) throw error
    throw templateInvalid({ message: `${param} is not a valid template: ${withPlace(error)}`, param })
  }
}

// Ends at the next opening, so that many of them are looked through once.
const tagOrSpace = /(\{[{%](?:(?!\{[{%]).)*?[}%]\})|\s+/gs

/** A template may be laid out in lines; breaks within its tags mean something there. */
const unbroken = (source: string) => source.replaceAll(tagOrSpace, (_all, tag?: string) => tag ?? ' ')

/** A value with a line break would end the header that it stands in; who sent it is told, nothing is taken out. */
function lineOf(rendered: string, header: string, param: string): string {
  if (!hasControl(rendered)) return rendered.replaceAll(/\s+/g, ' ').trim()
  throw filledIn(`${header} contains a line break or control character`, param)
}

/** No request can bring such a text; a filter that decodes can. */
function textOf(rendered: string, param: string): string {
  if (!isUnstorable(rendered)) return rendered
  throw filledIn(`${param} contains NUL or half of a surrogate pair`, param)
}

const filledIn = (fault: string, param: string) =>
  invalidParameter({
    message: `${fault} once its values are filled in.`,
    param,
    hint: 'Take it out of the params, or the attributes of the contact, that are used there.',
  })
