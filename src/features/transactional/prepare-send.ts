// From the body of a send to a message that can be queued, or to all that stands in the way.

import { isBase64 } from '../../kernel/base64.ts'
import type { Ctx } from '../../kernel/ctx.ts'
import { type Address, domainOf, readAddress } from '../../kernel/email-address.ts'
import type { Fault } from '../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { newMessageId } from '../messages/message-id.ts'
import { faultOfHeader, isStructural } from '../messages/mime/safe.ts'
import type { Attachment, Outgoing, Parts } from '../messages/queue-messages.ts'
import { contentMissing, recipientInvalid, templateInvalid } from '../messages/refusals.ts'
import { type compileTemplate, type TemplateScope, templateCache } from '../messages/templates/compile.ts'
import { isTemplateFault } from '../messages/templates/fault.ts'
import { type AttachedFiles, filesFor } from './attached-file.ts'
import { contactScope } from './contact-scope.ts'
import { lookup } from './content-types.ts'
import type { SendRequest } from './send-request.ts'
import { findTemplate, type UsedTemplate } from './template-queries.ts'

const compiled = templateCache({ max: 500 })
const furthestMs = 30 * 24 * 3_600_000
const pastAllowedMs = 5 * 60_000

export type Rendered = { subject: string; html?: string; text?: string }

export async function prepareSend(ctx: Ctx, body: SendRequest, files: AttachedFiles): Promise<Outgoing> {
  refuseFaults(faultsOf(ctx, body))
  const recipient = readRecipient(body.to)
  const template = await usedTemplate(ctx, body)
  const from = await senderOf(ctx, body, template)
  const rendered = await renderContent(ctx, body, template, recipient)
  const parts: Parts = {
    from,
    to: [recipient],
    replyTo: replyToOf(body, template),
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

export function faultsOf(ctx: Ctx, body: SendRequest): Fault[] {
  return [...headerFaults(body), ...timeFaults(ctx, body), ...attachmentFaults(body)]
}

function refuseFaults(faults: Fault[]): void {
  const [first] = faults
  if (first) throw invalidParameter({ message: first.message, param: first.param, details: faults })
}

function headerFaults({ headers = {} }: SendRequest): Fault[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const says = isStructural(name) ? 'is set by the service and cannot be given' : faultOfHeader(name, value)
    if (says === undefined) return []
    const param = `headers.${name.slice(0, 64)}`
    return { code: 'invalid_parameter', message: `${param} ${says}.`, param }
  })
}

function timeFaults({ now }: Ctx, { scheduled_at }: SendRequest): Fault[] {
  if (scheduled_at === undefined) return []
  const ahead = new Date(scheduled_at).getTime() - now.getTime()
  if (ahead >= -pastAllowedMs && ahead <= furthestMs) return []
  const message = `scheduled_at must lie within the next 30 days.`
  return [{ code: 'invalid_parameter', message, param: 'scheduled_at' }]
}

function attachmentFaults({ attachments = [] }: SendRequest): Fault[] {
  return attachments.flatMap(({ content }, i) => {
    if (isBase64(content.replaceAll(/\s/g, ''), { padded: true })) return []
    const param = `attachments[${i}].content`
    return { code: 'invalid_parameter', message: `${param} must be base64.`, param }
  })
}

function readAttachment(given: NonNullable<SendRequest['attachments']>[number]): Attachment {
  return {
    filename: given.filename,
    contentType: given.content_type ?? lookup(given.filename),
    contentId: given.content_id ?? null,
    content: Buffer.from(given.content, 'base64'),
  }
}

export function readRecipient(to: SendRequest['to']): Address {
  const read = readAddress(to)
  if ('fault' in read) throw recipientInvalid({ message: `to ${read.fault}.`, param: 'to' })
  return read
}

export async function usedTemplate(
  ctx: Ctx,
  { template_id }: SendRequest,
): Promise<UsedTemplate | undefined> {
  if (template_id === undefined) return undefined
  const found = await findTemplate(ctx.db, ctx.caller.accountId, template_id)
  const param = 'template_id'
  if (!found) throw templateInvalid({ message: `There is no template ${template_id}.`, param })
  if (!found.is_active) throw templateInvalid({ message: `Template ${template_id} is not active.`, param })
  return found
}

export async function senderOf(
  ctx: Ctx,
  { from }: SendRequest,
  template: UsedTemplate | undefined,
): Promise<Address> {
  const given = from ?? template?.sender ?? (await readSettings(ctx)).default_sender
  if (!given) {
    throw missingParameter({
      message: 'from is missing, and the account has no default sender.',
      param: 'from',
      action: {
        operation: 'settings.update',
        method: 'PUT',
        path: '/api/v1/settings',
        scope: 'settings.write',
      },
    })
  }
  const read = readAddress(given)
  if ('fault' in read) throw invalidParameter({ message: `from ${read.fault}.`, param: 'from' })
  return read
}

function replyToOf({ reply_to }: SendRequest, template: UsedTemplate | undefined): Address[] | undefined {
  const given = reply_to ?? template?.reply_to ?? undefined
  if (given === undefined) return undefined
  const read = readAddress(given)
  if ('fault' in read) throw invalidParameter({ message: `reply_to ${read.fault}.`, param: 'reply_to' })
  return [read]
}

/** Inline contents are templates when there are params; a stored one always is. */
export async function renderContent(
  ctx: Ctx,
  body: SendRequest,
  template: UsedTemplate | undefined,
  recipient: Address | undefined,
): Promise<Rendered> {
  const isTemplate = template !== undefined || body.params !== undefined
  const subject = body.subject ?? template?.subject ?? ''
  const html = template?.html ?? body.html
  const text = template ? undefined : body.text
  if (html === undefined && text === undefined) throw contentMissing()
  if (subject.trim() === '')
    throw contentMissing({ message: 'The message has no subject.', param: 'subject' })
  if (!isTemplate) return { subject, html, text }
  const reader = await contactScope(ctx, recipient?.email, [subject, html, text])
  const scope: TemplateScope = { params: body.params ?? {}, ...reader }
  return {
    subject: await render(subject, 'text', scope, 'subject'),
    html:
      html === undefined ? undefined : await render(html, 'html', scope, template ? 'template_id' : 'html'),
    text: text === undefined ? undefined : await render(text, 'text', scope, 'text'),
  }
}

type Kind = Parameters<typeof compileTemplate>[1]

async function render(source: string, kind: Kind, scope: TemplateScope, param: string): Promise<string> {
  try {
    const rendered = await compiled(source, kind).render(scope)
    // A value with a line break would end the header that it stands in.
    return param === 'subject' ? rendered.replaceAll(/\s+/g, ' ').trim() : rendered
  } catch (error) {
    if (!isTemplateFault(error)) throw error
    const place = error.line > 0 ? ` (line ${error.line}, column ${error.column})` : ''
    throw templateInvalid({ message: `${param} is not a valid template: ${error.message}${place}`, param })
  }
}
