import { type Static, Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { prepared } from '../../../kernel/prepared.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, Time } from '../../../kernel/schema.ts'
import { mapOf, optional, optionalMap } from '../../../kernel/v3/lenient.ts'
import { listQuery, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import {
  dailyCapReached,
  monthlyQuotaReached,
  senderDomainNotAllowed,
  senderUnverified,
} from '../../accounts/usage/refusals.ts'
import { contentMissing, recipientSuppressed, templateInvalid } from '../../messages/refusals.ts'
import { type AttachedFiles, fetchFilesOf } from '../attached-file.ts'
import { isOptinTag } from '../double-optin/ask-optin.ts'
import type { FetchAttachment } from '../v3/attachments.ts'
import { fetchHtml } from '../v3/fetch-html.ts'
import { previewTemplate } from './preview.ts'
import { countTemplates, listTemplates, type TemplateRow } from './queries.ts'
import { sendTest } from './send-test.ts'
import {
  changeTemplate,
  createTemplate,
  deleteTemplate,
  readTemplate,
  secretFields,
  TemplateBody,
} from './write-template.ts'

const Text = Type.String()

const Template = closed({
  id: Type.Integer(),
  name: Text,
  subject: Text,
  isActive: Type.Boolean(),
  testSent: Type.Boolean(),
  sender: closed({ id: Text, name: Text, email: Text }),
  replyTo: Text,
  toField: Text,
  tag: Text,
  htmlContent: Text,
  attachmentUrl: Text,
  createdAt: Time,
  modifiedAt: Time,
  doiTemplate: Type.Optional(Type.Boolean()),
})

function show(row: TemplateRow): Static<typeof Template> {
  return {
    id: Number(row.id),
    name: row.name,
    subject: row.subject,
    isActive: row.is_active,
    testSent: row.test_sent,
    sender: { id: '', name: row.sender.name ?? '', email: row.sender.email },
    replyTo: row.reply_to ?? '',
    toField: row.to_field,
    tag: row.tag,
    htmlContent: row.html,
    attachmentUrl: row.attachment_url ?? '',
    createdAt: row.created_at.toISOString(),
    modifiedAt: row.updated_at.toISOString(),
  }
}

type Fetching = { fetchAttachment: FetchAttachment }

const shared = { area: 'Transactional', scope: 'email.send' } as const
// What no identifier can be reaches no statement.
const params = closed({ templateId: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })
const maxBodyBytes = 5 * 1024 * 1024

export const listTemplatesV3 = operation({
  ...shared,
  name: 'template.list',
  http: 'GET /v3/smtp/templates',
  summary: 'List transactional templates, newest first',
  effect: 'read',
  query: closed({
    templateStatus: Type.Optional(Type.Boolean({ description: 'true: only active ones' })),
    ...listQuery,
  }),
  reply: closed({ count: Type.Integer(), templates: Type.Array(Template), next_cursor: orNull(Text) }),
  refusals: [outOfRange],
}).run(async (ctx, { query }) => {
  const filter = { isActive: query.templateStatus }
  const list = { name: 'v3.templates', filter, usual: 50, most: 1000 }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listTemplates(ctx.db, ctx.caller.accountId, filter, slice),
  )
  const { count } = await countTemplates(ctx.db, ctx.caller.accountId, filter)
  return { count, templates: rows.map(show), next_cursor: nextCursor }
})

export const createTemplateV3 = ({ fetchAttachment }: Fetching) =>
  operation({
    ...shared,
    name: 'template.create',
    http: 'POST /v3/smtp/templates',
    needs: ['templateName', 'subject', 'sender'],
    summary: 'Create a transactional template',
    effect: 'change',
    body: TemplateBody,
    prepare: async (_ctx, input) => ({ ...input, body: await fetchHtml(fetchAttachment, input.body) }),
    maxBodyBytes,
    secret: secretFields,
    status: 201,
    reply: closed({ id: Type.Integer() }),
    refusals: [templateInvalid],
  }).run(async (ctx, { body }) => ({ id: await createTemplate(ctx, body) }))

export const getTemplateV3 = operation({
  ...shared,
  name: 'template.get',
  http: 'GET /v3/smtp/templates/{templateId}',
  summary: 'Read a transactional template',
  effect: 'read',
  params,
  reply: Template,
  refusals: [notFound],
}).run(async (ctx, { params: { templateId } }) => {
  const found = await readTemplate(ctx, templateId)
  return { ...show(found), doiTemplate: isOptinTag(found.tag) }
})

export const updateTemplateV3 = ({ fetchAttachment }: Fetching) =>
  operation({
    ...shared,
    name: 'template.update',
    http: 'PUT /v3/smtp/templates/{templateId}',
    summary: 'Change a transactional template',
    effect: 'change',
    params,
    body: TemplateBody,
    prepare: async (_ctx, input) => ({ ...input, body: await fetchHtml(fetchAttachment, input.body) }),
    maxBodyBytes,
    secret: secretFields,
    status: 204,
    reply: Type.Null(),
    refusals: [notFound, templateInvalid],
  }).run(async (ctx, { params: { templateId }, body }) => {
    await changeTemplate(ctx, templateId, body)
    return null
  })

export const deleteTemplateV3 = operation({
  ...shared,
  name: 'template.delete',
  http: 'DELETE /v3/smtp/templates/{templateId}',
  summary: 'Delete a transactional template that is not active',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { templateId } }) => {
  await deleteTemplate(ctx, templateId)
  return null
})

const attached = prepared<AttachedFiles>()

export const testTemplateV3 = ({ fetchAttachment, baseUrl }: Fetching & { baseUrl: string }) =>
  operation({
    ...shared,
    name: 'template.test',
    http: 'POST /v3/smtp/templates/{templateId}/sendTest',
    needs: ['emailTo'],
    summary: 'Send a template to its authors as a test',
    effect: 'irreversible',
    params,
    body: closed({ emailTo: optional(Type.Array(Text)) }),
    prepare: async (ctx, input) =>
      attached.put(input, await fetchFilesOf(ctx, fetchAttachment, [input.params.templateId])),
    status: 204,
    reply: Type.Null(),
    refusals: [
      notFound,
      contentMissing,
      templateInvalid,
      recipientSuppressed,
      senderDomainNotAllowed,
      senderUnverified,
      dailyCapReached,
      monthlyQuotaReached,
    ],
  }).run(async (ctx, input) => {
    const test = { emailTo: input.body.emailTo ?? [], files: attached.take(input), baseUrl }
    await sendTest(ctx, input.params.templateId, test)
    return null
  })

export const previewTemplateV3 = operation({
  ...shared,
  name: 'template.preview',
  http: 'POST /v3/smtp/template/preview',
  summary: 'Show a template as somebody would get it; sends nothing',
  effect: 'dry',
  body: closed({
    templateId: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    params: optionalMap(Type.Unknown()),
    email: optional(Type.String({ maxLength: 320, description: 'The contact whose attributes are read' })),
  }),
  secret: ['params'],
  reply: closed({
    html: Text,
    subject: Text,
    previewText: Text,
    fromEmail: Text,
    fromName: Text,
    usedFeedNames: Type.Array(Text),
  }),
  refusals: [notFound, contentMissing, templateInvalid],
}).run((ctx, { body: { templateId, params, email } }) =>
  previewTemplate(ctx, templateId, { params: mapOf(params), email: email ?? undefined }),
)
