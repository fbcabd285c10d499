// All that one send call asks for: every copy of every version, ready to be queued.
import type { Ctx } from '../../../kernel/ctx.ts'
import { type Address, domainOf, readAddress } from '../../../kernel/email-address.ts'
import { newUuid } from '../../../kernel/id.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { readMoment } from '../../../kernel/v3/dates.ts'
import { given } from '../../../kernel/v3/lenient.ts'
import { readSettings } from '../../accounts/settings/settings.ts'
import { newMessageId } from '../../messages/message-id.ts'
import type { Attachment, Outgoing } from '../../messages/queue-messages.ts'
import { templateInvalid } from '../../messages/refusals.ts'
import type { TemplateScope } from '../../messages/templates/compile.ts'
import { toFieldSource } from '../../messages/templates/old-names.ts'
import { inTurn, type RenderTime, renderTime } from '../../messages/templates/turns.ts'
import { weighed } from '../../messages/weigh.ts'
import { type AttachedFiles, filesFor } from '../attached-file.ts'
import { contactScope, readsContact } from '../contact-scope.ts'
import { storedTemplate } from '../stored-template.ts'
import type { UsedTemplate } from '../template-queries.ts'
import { readSender } from './addresses.ts'
import { readAttachments, refuseTooMuch } from './attachments.ts'
import { type Draft, isVersioned, readDrafts } from './drafts.ts'
import { type Rendered, renderContent, renderName } from './render.ts'
import type { SendBody } from './send-request.ts'
import { readTags } from './tags.ts'

export type PlannedVersion = {
  messageId: string
  copies: Outgoing[]
  /** Checked and answered, and sent to nobody. */
  isSandbox: boolean
}

export type Plan = {
  ctx: Ctx
  versions: PlannedVersion[]
  isVersioned: boolean
  scheduled: { batchId: string } | undefined
  storedBytes: number
}

type Read = {
  sender: Address | undefined
  attachments: Attachment[]
  tags: string[]
  scheduledAt: Date | undefined
  batchId: string | undefined
  track: Outgoing['track']
}

/** What one version has found out is not found out again for the next. */
type Shared = Read & {
  filesOf: (template: UsedTemplate | undefined) => Attachment[]
  readsContact: (source: string) => boolean
  time: RenderTime
}

const furthestMs = 30 * 24 * 3_600_000
const pastAllowedMs = 5 * 60_000

export async function planSend(ctx: Ctx, body: SendBody, files: AttachedFiles): Promise<Plan> {
  const read = await readShared(ctx, body)
  const drafts = readDrafts(body)
  const shared: Shared = {
    ...read,
    filesOf: rememberedFiles(read.attachments, files),
    readsContact: remembered(readsContact),
    time: renderTime(drafts.length),
  }
  const templates = await templatesOf(ctx, drafts)
  const versions: PlannedVersion[] = []
  const weight = weighed()
  for (const draft of drafts) {
    const template = draft.templateId === undefined ? undefined : templates.get(draft.templateId)
    const version = await planVersion(ctx, shared, draft, template)
    weight.add(version.copies)
    versions.push(version)
  }
  const { scheduledAt, batchId } = shared
  return {
    ctx,
    versions,
    isVersioned: isVersioned(body),
    scheduled: scheduledAt && batchId ? { batchId } : undefined,
    storedBytes: weight.storedBytes(),
  }
}

async function readShared(ctx: Ctx, body: SendBody): Promise<Read> {
  const sender = await readSender(ctx, body.sender)
  const scheduledAt = readTime(ctx, body.scheduledAt)
  return {
    sender,
    attachments: readAttachments(body.attachment),
    tags: readTags(body.tags),
    scheduledAt,
    batchId: readBatchId(body.batchId) ?? (scheduledAt && newUuid()),
    track: {},
  }
}

/** As of a campaign: a time without a zone is UTC. */
function readTime({ now }: Ctx, text: string | undefined): Date | undefined {
  const asked = given(text)?.trim()
  if (asked === undefined) return undefined
  const at = asked.length > 'YYYY-MM-DD'.length ? readMoment(asked) : undefined
  const param = 'scheduledAt'
  if (!at) {
    const message = 'scheduledAt must be a time that exists, such as 2026-11-15T09:30:00Z'
    throw invalidParameter({ message, param })
  }
  const ahead = at.getTime() - now.getTime()
  if (ahead >= -pastAllowedMs && ahead <= furthestMs) return at
  throw invalidParameter({ message: 'scheduledAt must lie within the next 30 days', param })
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function readBatchId(text: string | undefined): string | undefined {
  const asked = given(text)?.trim()
  if (asked === undefined || uuidForm.test(asked)) return asked?.toLowerCase()
  throw invalidParameter({ message: 'batchId must be a UUID', param: 'batchId' })
}

export function templateIdsIn({ templateId, messageVersions }: SendBody): number[] {
  return [{ templateId }, ...(messageVersions ?? [])].flatMap((one) => one.templateId || [])
}

async function templatesOf(ctx: Ctx, drafts: Draft[]): Promise<Map<number, UsedTemplate>> {
  const found = new Map<number, UsedTemplate>()
  for (const id of new Set(drafts.flatMap(({ templateId }) => templateId ?? []))) {
    const template = await storedTemplate(ctx.db, ctx.caller.accountId, id)
    const param = 'templateId'
    if (!template) throw templateInvalid({ message: `There is no template ${id}.`, param })
    if (!template.is_active) throw templateInvalid({ message: `Template ${id} is not active.`, param })
    found.set(id, template)
  }
  return found
}

/** The same list for the same files: where many messages have them, they are stored from one of them. */
function rememberedFiles(given: Attachment[], files: AttachedFiles): Shared['filesOf'] {
  const known = new Map<string | null, Attachment[]>([[null, given]])
  return (template) => {
    const url = template?.attachment_url ?? null
    const found = known.get(url) ?? refuseTooMuch([...given, ...filesFor(template, files)])
    known.set(url, found)
    return found
  }
}

function remembered<K, V>(work: (of: K) => V): (of: K) => V {
  const known = new Map<K, V>()
  return (of) => {
    const found = known.get(of) ?? work(of)
    known.set(of, found)
    return found
  }
}

async function planVersion(
  ctx: Ctx,
  shared: Shared,
  draft: Draft,
  template: UsedTemplate | undefined,
): Promise<PlannedVersion> {
  const sender = await senderOf(ctx, shared.sender, template)
  const toField = toFieldSource(template?.to_field ?? '')
  const { subject } = draft.content
  const content = template ? { subject: subject ?? template.subject, html: template.html } : draft.content
  const text = 'text' in content ? content.text : undefined
  // One content for all of a version's recipients: it speaks to the first.
  const sources = [content.subject, content.html, text, sender.name, toField]
  const reader = await contactScope(ctx, draft.recipients[0]?.email, sources, shared.readsContact)
  const scope = { params: await inTurn(draft.params), ...reader }
  const rendered = await renderContent(content, scope, shared.time)
  const from = await renderName(sender, scope, 'sender', shared.time)
  const addressed = await named(draft, toField, scope, shared.time)
  const { id, messageId } = newMessageId(domainOf(from.email))
  const copy = { ...commonOf(ctx, shared, draft, template), ...partsOf(from, addressed, rendered, template) }
  const copies = addressed.recipients.map((recipient, n) => ({
    ...copy,
    id: n === 0 ? id : undefined,
    messageId,
    recipient,
  }))
  return { messageId, copies, isSandbox: draft.headers.isSandbox }
}

/** The template names the one that it speaks to; the names of the others are those that were given. */
async function named(draft: Draft, toField: string, scope: TemplateScope, time: RenderTime): Promise<Draft> {
  const [first, ...others] = draft.to
  if (!first || first.name !== undefined) return draft
  const renamed = await renderName({ ...first, name: toField }, scope, 'toField', time)
  return { ...draft, to: [renamed, ...others], recipients: draft.recipients.with(0, renamed) }
}

async function senderOf(ctx: Ctx, sender: Address | undefined, template: UsedTemplate | undefined) {
  const found = sender ?? template?.sender ?? (await readSettings(ctx)).default_sender
  if (found) return found
  throw missingParameter({ message: 'sender is missing', param: 'sender' })
}

function commonOf(ctx: Ctx, shared: Shared, draft: Draft, template: UsedTemplate | undefined) {
  const { tag, custom } = draft.headers
  const tags = shared.tags.length > 0 ? shared.tags : [tag ?? template?.tag ?? '']
  return {
    caller: ctx.caller,
    now: ctx.now,
    source: 'api' as const,
    stream: 'transactional' as const,
    attachments: shared.filesOf(template),
    tags: tags.filter((one) => one !== ''),
    metadata: metadataOf({
      'X-Mailin-custom': custom,
      // Told apart from tags of the body, which webhooks write otherwise.
      'X-Mailin-Tag': shared.tags.length > 0 ? undefined : tag,
    }),
    templateId: template?.id,
    batchId: shared.batchId,
    scheduledAt: shared.scheduledAt,
    track: shared.track,
    suppressed: 'record' as const,
  }
}

function metadataOf(headers: Record<string, string | undefined>): Record<string, string> | undefined {
  const set = Object.entries(headers).filter((one): one is [string, string] => one[1] !== undefined)
  return set.length > 0 ? Object.fromEntries(set) : undefined
}

function partsOf(from: Address, draft: Draft, rendered: Rendered, template: UsedTemplate | undefined) {
  const replyTo = draft.replyTo ?? addressOf(template?.reply_to)
  return {
    from,
    subject: rendered.subject,
    parts: {
      from,
      to: draft.to,
      cc: draft.cc.length > 0 ? draft.cc : undefined,
      replyTo: replyTo && [replyTo],
      html: rendered.html,
      text: rendered.text,
      headers: draft.headers.extra,
    },
  }
}

function addressOf(text: string | null | undefined): Address | undefined {
  const read = text ? readAddress(text) : undefined
  return read && !('fault' in read) ? read : undefined
}
