// A form was filled in: the person gets a message whose link confirms that it was them. Until then nothing changes.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { domainOf, readAddress } from '../../../kernel/email-address.ts'
import { newUuid } from '../../../kernel/id.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, optional, optionalMap } from '../../../kernel/v3/lenient.ts'
import { readUrl } from '../../../kernel/v3/url.ts'
import { labellerOf } from '../../contacts/attributes/calculate.ts'
import type { Value } from '../../contacts/attributes/values.ts'
import { readBody } from '../../contacts/contacts/contact-body.ts'
import { findContact } from '../../contacts/contacts/queries.ts'
import { holdLists } from '../../contacts/lists/queries.ts'
import { queueMessages } from '../../messages/queue-messages.ts'
import { templateInvalid } from '../../messages/refusals.ts'
import { type AttachedFiles, filesFor } from '../attached-file.ts'
import { contactScope } from '../contact-scope.ts'
import { storedTemplate } from '../stored-template.ts'
import type { UsedTemplate } from '../template-queries.ts'
import type { FetchAttachment } from '../v3/attachments.ts'
import { renderContent, renderName } from '../v3/render.ts'
import { refuseTooMany } from './limit.ts'
import { insertOptin } from './queries.ts'
import { type FindOptinKeys, writeOptinToken } from './tokens.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const ListIds = optional(Type.Array(Id, { maxItems: 100 }))

export const OptinBody = closed({
  email: Type.Optional(Type.String({ maxLength: 320 })),
  attributes: optionalMap(Type.Unknown()),
  includeListIds: ListIds,
  excludeListIds: ListIds,
  templateId: optional(Id),
  redirectionUrl: Type.Optional(Type.String({ maxLength: 2_048 })),
})
export type OptinBody = Static<typeof OptinBody>

export type OptinNeeds = { baseUrl: string; optinKeys: FindOptinKeys; fetchAttachment: FetchAttachment }

type Asked = {
  files: AttachedFiles
  email: string
  attributes: Record<string, Value>
  include: string[]
  exclude: string[]
  redirectUrl: string
}

/** Whether there was no contact of this address yet. */
export async function askOptin(
  ctx: Ctx,
  body: OptinBody,
  needs: OptinNeeds,
  files: AttachedFiles,
): Promise<boolean> {
  const asked = { ...(await readAsked(ctx, body)), files }
  const template = await readTemplateOf(ctx, body.templateId)
  await refuseTooMany(ctx, asked.email)
  const { accountId, keyId } = ctx.caller
  const token = { accountId, id: newUuid() }
  const link = `${needs.baseUrl}/c/${writeOptinToken(await needs.optinKeys(), token)}`
  await insertOptin(ctx.db, {
    ...token,
    email: asked.email,
    attributes: asked.attributes,
    include_list_ids: asked.include,
    exclude_list_ids: asked.exclude,
    redirect_url: asked.redirectUrl,
    key_id: keyId,
    created_at: ctx.now,
  })
  await sendLink(ctx, asked, template, link)
  return (await findContact(ctx.db, accountId, { email: asked.email })) === undefined
}

async function readAsked(ctx: Ctx, body: OptinBody): Promise<Omit<Asked, 'files'>> {
  const { email, sms, attributes } = await readBody(ctx, { email: body.email, attributes: body.attributes })
  if (email === undefined) throw missingParameter({ message: 'email is missing', param: 'email' })
  const redirectUrl = readUrl(body.redirectionUrl, 'redirectionUrl')
  if (redirectUrl === null)
    throw missingParameter({ message: 'redirectionUrl is missing', param: 'redirectionUrl' })
  const include = await readLists(ctx, body.includeListIds, 'includeListIds')
  if (include.length === 0)
    throw missingParameter({ message: 'includeListIds is missing', param: 'includeListIds' })
  const set = [...attributes].flatMap(([name, value]): [string, Value][] =>
    value === null ? [] : [[name, value]],
  )
  return {
    email,
    attributes: { ...Object.fromEntries(set), ...(sms ? { SMS: sms } : {}) },
    include,
    exclude: await readLists(ctx, body.excludeListIds, 'excludeListIds'),
    redirectUrl,
  }
}

async function readLists({ db, caller }: Ctx, ids: number[] | null | undefined, param: string) {
  const asked = [...new Set(ids ?? [])].map(String)
  const known = new Set((await holdLists(db, caller.accountId, asked)).map(({ id }) => id))
  const unknown = asked.find((id) => !known.has(id))
  if (unknown === undefined) return asked
  throw invalidParameter({ message: `List ID ${unknown} does not exist`, param })
}

const param = 'templateId'

export const isOptinTag = (tag: string) => tag.trim().toLowerCase() === 'optin'

async function readTemplateOf(ctx: Ctx, id: number | null | undefined): Promise<UsedTemplate> {
  if (typeof id !== 'number') throw missingParameter({ message: 'templateId is missing', param })
  const found = await storedTemplate(ctx.db, ctx.caller.accountId, id)
  if (!found) throw templateInvalid({ message: `There is no template ${id}.`, param })
  if (!found.is_active) throw templateInvalid({ message: `Template ${id} is not active.`, param })
  if (isOptinTag(found.tag)) return found
  throw templateInvalid({ message: `Template ${id} must have the tag optin.`, param })
}

async function sendLink(ctx: Ctx, asked: Asked, template: UsedTemplate, link: string): Promise<void> {
  const { subject, html, sender } = template
  const { contact, ...links } = await contactScope(ctx, asked.email, [subject, html, sender.name])
  const label = await labellerOf(ctx.db, ctx.caller.accountId)
  const attributes = label(asked.attributes)
  const scope = {
    params: { ...attributes, DOIurl: link },
    contact: { ...contact, ...attributes, EMAIL: asked.email },
    doubleoptin: link,
    ...links,
  }
  const rendered = await renderContent({ subject, html }, scope)
  const named = { ...template, sender: await renderName(sender, scope, 'sender') }
  if (!rendered.html?.includes(link.slice(link.lastIndexOf('/') + 1))) {
    const message = `Template ${template.id} must contain the link {{ doubleoptin }}.`
    throw templateInvalid({ message, param })
  }
  const [queued] = await queueMessages(ctx.db, [messageOf(ctx, asked, named, rendered)])
  if (queued instanceof Refusal) throw queued
}

type Rendered = Awaited<ReturnType<typeof renderContent>>

// No person wrote it (RFC 3834 section 5).
const fromMachine: [string, string][] = [['Auto-Submitted', 'auto-generated']]

function messageOf(ctx: Ctx, { email, files }: Asked, template: UsedTemplate, { subject, html }: Rendered) {
  const { sender: from } = template
  const read = given(template.reply_to ?? '') === undefined ? undefined : readAddress(template.reply_to ?? '')
  const replyTo = read && !('fault' in read) ? [read] : undefined
  return {
    caller: ctx.caller,
    now: ctx.now,
    source: 'api' as const,
    stream: 'transactional' as const,
    from,
    recipient: { email },
    subject,
    parts: { from, to: [{ email }], replyTo, html, headers: fromMachine },
    attachments: filesFor(template, files),
    tags: [template.tag],
    templateId: template.id,
    messageId: `<${newUuid().replaceAll('-', '')}@${domainOf(from.email)}>`,
    // The link must arrive as it is, and who has not agreed yet is not watched.
    track: { opens: false, clicks: false, asked: true as const },
    suppressed: 'refuse' as const,
  }
}
