// From a campaign to the message of one recipient. Compiled once for all of them; nothing here asks the database.
import { type Address, domainOf, readAddress } from '../../kernel/email-address.ts'
import { oneLine, storable } from '../../kernel/v3/lenient.ts'
import { languageOf, leaveWords } from '../contacts/unsubscribe/leave-words.ts'
import { placeFooter, readGround } from '../messages/footer/ground.ts'
import { type CompiledTemplate, compileTemplate, type TemplateScope } from '../messages/templates/compile.ts'
import { type Names, toFieldSource, withLinks, withValues } from '../messages/templates/old-names.ts'
import type { CampaignRow } from './campaign-row.ts'
import { automaticFooter, htmlSource } from './campaign-source.ts'
import type { Links } from './links.ts'
import { tagLinks, type Utm, utmOf } from './utm.ts'

/** What of a campaign shows in its messages. */
export type CampaignContent = Pick<
  CampaignRow,
  | 'account_id'
  | 'id'
  | 'subject'
  | 'preview_text'
  | 'html'
  | 'text'
  | 'sender'
  | 'reply_to'
  | 'to_field'
  | 'params'
  | 'ab_test'
  | 'extras'
>

export type Variant = 'A' | 'B'

export type CompiledCampaign = {
  campaign: CampaignContent
  subjects: Record<Variant, CompiledTemplate>
  html: CompiledTemplate
  text: CompiledTemplate | undefined
  senderName: CompiledTemplate
  toName: CompiledTemplate
  replyTo: Address[] | undefined
  utm: Utm | undefined
  /** Something leads to the message as a page. */
  readsMirror: boolean
}

export type CampaignRecipient = {
  email: string
  /** Of the contact, by name; those of nobody are empty. */
  attributes: Record<string, unknown>
  links: Links
  /** The moment of the rendering. */
  now: Date
  /** The list that brought the recipient. */
  listId?: string | null
  /** Of what was sent before: HTML that would hide a footer is shown as it is. */
  isPage?: boolean
  /** Which subject of an A/B test; A when absent. */
  variant?: Variant
}

export type RenderedCampaign = {
  from: Address
  to: Address
  replyTo: Address[] | undefined
  subject: string
  html: string
  /** Absent when the composer is to make it from the HTML. */
  text: string | undefined
  headers: [string, string][]
  /** The template has no link to unsubscribe, so one was put below it. */
  isFooterAdded: boolean
}

/** Throws a template fault, which compiling at creation should have found. */
export function compileCampaign(campaign: CampaignContent, names: Names): CompiledCampaign {
  const { subject, ab_test, sender, text } = campaign
  const compileText = (source: string) => compileTemplate(withValues(source, names), 'text')
  const templates = {
    subjects: {
      A: compileText(ab_test?.subjectA ?? subject),
      B: compileText(ab_test?.subjectB ?? subject),
    },
    html: compileTemplate(htmlSource(campaign, names), 'html'),
    text: text === null ? undefined : compileText(withLinks(text)),
    senderName: compileTemplate(sender.name ?? '', 'text'),
    toName: compileTemplate(toFieldSource(campaign.to_field), 'text'),
  }
  const { subjects, html, senderName, toName } = templates
  const all = [subjects.A, subjects.B, html, templates.text, senderName, toName]
  const readsMirror = all.some((each) => each?.variables.some((name) => /^mirror\b/.test(name)))
  return { campaign, ...templates, replyTo: replyToOf(campaign), utm: utmOf(campaign), readsMirror }
}

export async function renderCampaign(
  compiled: CompiledCampaign,
  recipient: CampaignRecipient,
): Promise<RenderedCampaign> {
  const scope = scopeOf(compiled.campaign, recipient)
  const body = await renderBody(compiled, scope, recipient)
  return { ...body, ...(await renderHead(compiled, scope, recipient)) }
}

/** All but the bodies. */
export async function renderHead(
  compiled: CompiledCampaign,
  scope: TemplateScope,
  recipient: CampaignRecipient,
): Promise<Omit<RenderedCampaign, 'html' | 'text' | 'isFooterAdded'>> {
  const { campaign } = compiled
  return {
    from: named(campaign.sender.email, await compiled.senderName.render(scope)),
    to: named(recipient.email, await compiled.toName.render(scope)),
    replyTo: compiled.replyTo,
    subject: oneLine(await compiled.subjects[recipient.variant ?? 'A'].render(scope)),
    headers: headersOf(campaign, recipient),
  }
}

/** What templates of a campaign read. */
export function scopeOf(
  { params }: Pick<CampaignContent, 'params'>,
  { email, attributes, links, now }: Pick<CampaignRecipient, 'email' | 'attributes' | 'links' | 'now'>,
): TemplateScope {
  return {
    params,
    contact: { ...attributes, EMAIL: email },
    unsubscribe_url: links.unsubscribe,
    preferences_url: links.preferences,
    mirror: links.mirror,
    time_now: now,
  }
}

async function renderBody(
  { html, text, utm }: CompiledCampaign,
  scope: TemplateScope,
  { links, attributes, isPage }: CampaignRecipient,
) {
  const word = leaveWords[languageOf(attributes)]
  const rendered = storable(await html.render(scope))
  const ground = readGround(rendered, [links.unsubscribe, links.preferences])
  const isFooterAdded = !ground.isLinked && !(isPage && ground.hiddenFrom !== undefined)
  const whole = isFooterAdded
    ? placeFooter(rendered, automaticFooter(links.unsubscribe, word), ground)
    : rendered
  const plain = text && storable(await text.render({ ...scope, unsubscribe_word: word }))
  return {
    html: utm ? tagLinks(whole, utm, [links.unsubscribe, links.preferences, links.mirror]) : whole,
    text: plain === undefined || hasLink(plain, links) ? plain : `${plain}\n\n${links.unsubscribe}\n`,
    isFooterAdded,
  }
}

// Asked of what was rendered: a link inside a condition that does not hold would be none.
const hasLink = (body: string, { unsubscribe, preferences }: Links) =>
  body.includes(unsubscribe) || body.includes(preferences)

function named(email: string, name: string): Address {
  const clean = oneLine(name)
  return clean === '' ? { email } : { email, name: clean }
}

function replyToOf({ reply_to }: CampaignContent): Address[] | undefined {
  const read = reply_to === null ? undefined : readAddress(reply_to)
  return read && !('fault' in read) ? [read] : undefined
}

function headersOf(
  { id, account_id, sender }: CampaignContent,
  { links, listId }: CampaignRecipient,
): [string, string][] {
  const list = listId ? `list-${listId}` : 'campaigns'
  return [
    ['List-Unsubscribe', `<${links.unsubscribe}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ['List-Id', `<${list}.${domainOf(sender.email)}>`],
    ['Feedback-ID', `${id}:campaign:${account_id}:posthorn`],
    ['X-Auto-Response-Suppress', 'OOF, AutoReply'],
  ]
}
