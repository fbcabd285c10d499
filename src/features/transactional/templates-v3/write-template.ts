// Creating and changing a template: the same fields, all of them optional in a change.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { type Address, readAddress } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter, notFound } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, oneLine, optional, storable } from '../../../kernel/v3/lenient.ts'
import { toFieldSource } from '../../messages/templates/old-names.ts'
import { readAttachmentUrl } from '../attached-file.ts'
import { inTodaysWords } from '../stored-template.ts'
import { readSender } from '../v3/addresses.ts'
import { refuseBadTemplate } from '../v3/render.ts'
import { SenderGiven } from '../v3/send-request.ts'
import {
  deleteTemplateRow,
  findTemplateRow,
  insertTemplate,
  lockTemplateRow,
  type TemplateFields,
  type TemplateRow,
  updateTemplateRow,
} from './queries.ts'

const Text = Type.Optional(Type.String())

export const TemplateBody = closed({
  templateName: Text,
  subject: Text,
  sender: optional(SenderGiven),
  htmlContent: Text,
  htmlUrl: Text,
  replyTo: Text,
  toField: Text,
  tag: Text,
  attachmentUrl: Type.Optional(Type.String({ description: 'Fetched and attached at every send' })),
  isActive: Type.Optional(Type.Boolean()),
})

export type TemplateBody = Static<typeof TemplateBody>

/** Contents never stand in the action log, nor do addresses, which may hold what opens them. */
export const secretFields = ['subject', 'htmlContent', 'htmlUrl', 'attachmentUrl']

// As the provider has it.
const shortestHtml = 10

export async function createTemplate(ctx: Ctx, body: TemplateBody): Promise<number> {
  const name = given(body.templateName)
  if (name === undefined)
    throw missingParameter({ message: 'Template name is missing', param: 'templateName' })
  const subject = given(body.subject)
  if (subject === undefined) throw missingParameter({ message: 'subject is missing', param: 'subject' })
  const sender = await readSender(ctx, body.sender)
  if (!sender) throw missingParameter({ message: 'sender is missing', param: 'sender' })
  const html = given(body.htmlContent)
  if (html === undefined) throw missingParameter({ message: 'htmlContent is missing', param: 'htmlContent' })
  const empty = { reply_to: null, to_field: '', tag: '', attachment_url: null, is_active: false }
  const fields = changed({ ...empty, name, subject, html }, body, sender)
  await refuseBadFields(fields)
  return Number((await insertTemplate(ctx.db, ctx.caller.accountId, fields, ctx.now)).id)
}

export async function changeTemplate(ctx: Ctx, id: number, body: TemplateBody): Promise<void> {
  const found = orNotFound(await lockTemplateRow(ctx.db, ctx.caller.accountId, id))
  const sender = (await readSender(ctx, body.sender)) ?? found.sender
  const fields = changed(found, body, sender)
  await refuseBadFields(fields)
  await updateTemplateRow(ctx.db, { accountId: ctx.caller.accountId, id: found.id }, fields, ctx.now)
}

export async function readTemplate(ctx: Ctx, id: number): Promise<TemplateRow> {
  return orNotFound(await findTemplateRow(ctx.db, ctx.caller.accountId, id))
}

/** As its recipients get it. */
export async function sentTemplate(ctx: Ctx, id: number): Promise<TemplateRow> {
  return inTodaysWords(ctx.db, ctx.caller.accountId, await readTemplate(ctx, id))
}

function orNotFound(found: TemplateRow | undefined): TemplateRow {
  if (found) return found
  throw notFound({ message: 'Template ID does not exist', param: 'templateId' })
}

export async function deleteTemplate(ctx: Ctx, id: number): Promise<void> {
  const found = orNotFound(await lockTemplateRow(ctx.db, ctx.caller.accountId, id))
  if ((await deleteTemplateRow(ctx.db, ctx.caller.accountId, found.id)) > 0) return
  throw invalidParameter({ message: 'An active template cannot be deleted; set isActive to false first' })
}

function changed(known: Omit<TemplateFields, 'sender'>, body: TemplateBody, sender: Address): TemplateFields {
  return {
    name: oneLine(given(body.templateName) ?? known.name),
    subject: storable(given(body.subject) ?? known.subject),
    html: storable(given(body.htmlContent) ?? known.html),
    sender,
    reply_to: body.replyTo === undefined ? known.reply_to : readReplyTo(body.replyTo),
    to_field: storable(body.toField ?? known.to_field),
    tag: oneLine(body.tag ?? known.tag),
    attachment_url:
      body.attachmentUrl === undefined ? known.attachment_url : readAttachmentUrl(body.attachmentUrl),
    is_active: body.isActive ?? known.is_active,
  }
}

function readReplyTo(text: string): string | null {
  if (given(text) === undefined) return null
  const read = readAddress(text)
  if (!('fault' in read)) return text.trim()
  throw invalidParameter({ message: 'email is not valid in replyTo', param: 'replyTo' })
}

async function refuseBadFields({ subject, html, sender, to_field }: TemplateFields): Promise<void> {
  if (html.trim().length <= shortestHtml) {
    throw invalidParameter({
      message: `htmlContent must have more than ${shortestHtml} characters`,
      param: 'htmlContent',
    })
  }
  await refuseBadTemplate(subject, 'text', 'subject')
  await refuseBadTemplate(html, 'html', 'htmlContent')
  await refuseBadTemplate(sender.name ?? '', 'text', 'sender')
  await refuseBadTemplate(toFieldSource(to_field), 'text', 'toField')
}
