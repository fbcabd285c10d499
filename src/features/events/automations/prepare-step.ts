// From a run whose turn came to the message of its next step.
import type { Caller } from '../../../kernel/ctx.ts'
import { type Address, domainOf, readAddress } from '../../../kernel/email-address.ts'
import { newUuid } from '../../../kernel/id.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import type { Settings } from '../../accounts/settings/settings.ts'
import type { Calculator } from '../../contacts/attributes/calculate.ts'
import { type Language, languageOf, leaveWords } from '../../contacts/unsubscribe/leave-words.ts'
import { type UnsubscribeKeys, writeUnsubscribeToken } from '../../contacts/unsubscribe/tokens.ts'
import { placeFooter, readGround } from '../../messages/footer/ground.ts'
import { mirrorUrl } from '../../messages/mirror-link.ts'
import type { Outgoing } from '../../messages/queue-messages.ts'
import { templateInvalid } from '../../messages/refusals.ts'
import type { UsedTemplate } from '../../transactional/template-queries.ts'
import { refusingFaults, renderContent } from '../../transactional/v3/render.ts'
import type { Step } from './queries.ts'
import type { StepFiles } from './step-files.ts'
import type { DueRun, UsedKey } from './step-queries.ts'

/** Read once for all runs of a portion. */
export type StepNeeds = {
  now: Date
  baseUrl: string
  unsubscribeKeys: UnsubscribeKeys
  keyOf: (id: string) => Promise<UsedKey>
  settingsOf: (accountId: string) => Promise<Settings>
  templateOf: (accountId: string, id: number) => Promise<UsedTemplate | undefined>
  readerOf: (accountId: string) => Promise<Calculator>
  files: StepFiles
}

/** Throws a refusal where the step cannot be sent as things are. */
export async function prepareStep(needs: StepNeeds, run: DueRun, step: Step): Promise<Outgoing> {
  const id = newUuid()
  const recipient = { email: run.contact_email ?? run.email }
  const template = await templateFor(needs, run, step)
  const from = await senderFor(needs, run, step.from ?? template?.sender)
  const links = linksFor(needs, { accountId: run.account_id, email: recipient.email, messageId: id })
  const { subject, html } = await contentFor(await readable(needs, run), step, template, links)
  return {
    id,
    caller: await callerFor(needs, run),
    now: needs.now,
    source: 'automation',
    stream: 'marketing',
    from,
    recipient,
    subject,
    parts: {
      from,
      to: [recipient],
      replyTo: replyToOf(template),
      html,
      headers: headersFor(run, from, links),
    },
    attachments: template?.attachment_url ? [needs.files.get(run.account_id, template.attachment_url)] : [],
    tags: template && template.tag !== '' ? [template.tag] : [],
    templateId: template?.id,
    automationId: run.automation_id ?? undefined,
    consentSource: run.consent_source ?? undefined,
    messageId: `<${newUuid().replaceAll('-', '')}@${domainOf(from.email)}>`,
    track: run.contact_id === null ? {} : { contactId: run.contact_id },
    suppressed: 'refuse',
  }
}

async function templateFor({ templateOf }: StepNeeds, { account_id }: DueRun, { template_id }: Step) {
  if (template_id === undefined) return undefined
  const found = await templateOf(account_id, template_id)
  if (found?.is_active) return found
  throw templateInvalid({ message: `Template ${template_id} is gone or not active.`, param: 'template_id' })
}

async function senderFor(needs: StepNeeds, run: DueRun, given: string | Address | undefined) {
  const sender = given ?? (await needs.settingsOf(run.account_id)).default_sender
  if (!sender) throw missingParameter({ message: 'The account has no default sender.', param: 'from' })
  const read = readAddress(sender)
  if ('fault' in read) throw invalidParameter({ message: `from ${read.fault}.`, param: 'from' })
  return read
}

function replyToOf(template: UsedTemplate | undefined): Address[] | undefined {
  const read = template?.reply_to ? readAddress(template.reply_to) : undefined
  return read && !('fault' in read) ? [read] : undefined
}

async function callerFor({ keyOf }: StepNeeds, { account_id, key_id, mode }: DueRun): Promise<Caller> {
  const { name, daily_cap, sender_domains, verified_sender_only, has_quota } = await keyOf(key_id)
  return {
    accountId: account_id,
    keyId: key_id,
    keyName: name,
    mode,
    scopes: null,
    dailyCap: daily_cap,
    senderDomains: sender_domains,
    verifiedSenderOnly: verified_sender_only,
    hasQuota: has_quota,
  }
}

type Links = {
  token: string
  unsubscribe_url: string
  preferences_url: string
  mirror: string
  /** When they were made, which is when the step is rendered. */
  time_now: Date
}

type To = { accountId: string; email: string; messageId: string }

function linksFor({ baseUrl, unsubscribeKeys, now }: StepNeeds, to: To): Links {
  const token = writeUnsubscribeToken(unsubscribeKeys, to)
  const unsubscribe_url = `${baseUrl}/u/${token}`
  return {
    token,
    unsubscribe_url,
    preferences_url: `${baseUrl}/preferences/${token}`,
    mirror: mirrorUrl({ keys: unsubscribeKeys, baseUrl }, to),
    time_now: now,
  }
}

/** As in the mail of campaigns; and that no person wrote this one. */
function headersFor(run: DueRun, from: Address, { unsubscribe_url }: Links): [string, string][] {
  // The reminders of a cart need no automation.
  const name = run.automation_id?.replaceAll('-', '') ?? 'cart'
  return [
    ['List-Unsubscribe', `<${unsubscribe_url}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ['List-Id', `<automation-${name}.${domainOf(from.email)}>`],
    ['Feedback-ID', `${name}:automation:${run.account_id}:posthorn`],
    ['Auto-Submitted', 'auto-generated'],
    ['X-Auto-Response-Suppress', 'OOF, AutoReply'],
  ]
}

async function readable({ now, readerOf }: StepNeeds, run: DueRun): Promise<DueRun> {
  const read = await readerOf(run.account_id)
  return { ...run, attributes: run.attributes && read(run.attributes, now) }
}

async function contentFor(run: DueRun, step: Step, template: UsedTemplate | undefined, links: Links) {
  const contact = {
    ...run.attributes,
    EMAIL: run.contact_email ?? run.email,
    SMS: run.contact_sms ?? undefined,
  }
  const content = { subject: step.subject ?? template?.subject, html: step.html ?? template?.html }
  const { token: _, ...shown } = links
  const scope = { params: {}, event: run.context, contact, ...shown }
  const { subject, html = '' } = await renderContent(content, scope)
  const language = languageOf(run.attributes)
  return { subject, html: await refusingFaults('html', async () => withWayOut(html, links, language)) }
}

/** Nobody is written to without a way out, whatever the author forgot. */
function withWayOut(html: string, { token, unsubscribe_url }: Links, language: Language): string {
  const ground = readGround(html, [token])
  if (ground.isLinked) return html
  const footer = `<p style="font-size:12px;color:#666"><a href="${unsubscribe_url}">${leaveWords[language]}</a></p>`
  return placeFooter(html, footer, ground)
}
