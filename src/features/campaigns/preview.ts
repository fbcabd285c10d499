// A campaign, a template or mere HTML as one contact would get it. Sends nothing.
import { collector, together } from '../../kernel/collect.ts'
import type { Ctx } from '../../kernel/ctx.ts'
import { normalEmail } from '../../kernel/email-address.ts'
import { invalidParameter, notFound } from '../../kernel/refusals.ts'
import { storable } from '../../kernel/v3/lenient.ts'
import { attributeNames } from '../contacts/attributes/names.ts'
import { findContact } from '../contacts/contacts/queries.ts'
import { readableOf } from '../contacts/contacts/readable.ts'
import { textFromHtml } from '../messages/mime/text-from-html.ts'
import { contentMissing } from '../messages/refusals.ts'
import { missingVariables } from '../messages/templates/compile.ts'
import { refuseBadTemplate, refusingFaults } from '../transactional/v3/render.ts'
import type { CampaignRow } from './campaign-row.ts'
import { testMirror } from './links.ts'
import { templateOf } from './read-content.ts'
import { type CampaignContent, compileCampaign, renderCampaign, scopeOf } from './render-campaign.ts'
import { type LinkSource, testLinksOf } from './send-test.ts'
import { readCampaign } from './write-campaign.ts'

export type PreviewAsked = {
  html?: string
  template_id?: number
  campaign_id?: number
  subject?: string
  contact?: string | number
  params?: Record<string, unknown>
}

const noCampaign = '0'

type Shown = Pick<CampaignRow, 'subject' | 'html'> & Partial<CampaignContent>

export async function preview(ctx: Ctx, asked: PreviewAsked, source: LinkSource) {
  const { content, person } = await readAsked(ctx, asked)
  const compiled = compileCampaign(content, await attributeNames(ctx.db, ctx.caller.accountId))
  const links = await testLinksOf(source, content)
  if (content.id === noCampaign) links.mirror = testMirror(source.baseUrl)
  const recipient = { ...person, links, now: ctx.now }
  const { subject, html, text } = await refusingFaults('html', () => renderCampaign(compiled, recipient))
  const scope = scopeOf(content, recipient)
  const missing = [compiled.html, compiled.subjects.A].flatMap((one) => missingVariables(one, scope))
  return { subject, html, text: text ?? textFromHtml(html), missing_variables: [...new Set(missing)] }
}

/** Refuses all that is wrong at once. */
async function readAsked(ctx: Ctx, asked: PreviewAsked) {
  const { content, person, refusals } = await look(ctx, asked)
  const refused = together(refusals)
  if (refused) throw refused
  if (!content || !person) throw new Error('a preview was neither read nor refused')
  return { content, person }
}

const contents = ['html', 'template_id', 'campaign_id']

/** What is wrong besides the fields that are known to be faulty. */
export async function faultsOfPreview(ctx: Ctx, asked: PreviewAsked, faulty: ReadonlySet<string>) {
  // What one that cannot be read would have brought cannot be judged.
  const lost = contents.some((name) => faulty.has(name)) ? { subject: '', html: asked.html ?? '' } : undefined
  return (await look(ctx, asked, lost)).refusals
}

async function look(ctx: Ctx, asked: PreviewAsked, known?: Shown) {
  const { refusals, step } = collector()
  const given = known ?? (await step(() => contentOf(ctx, asked)))
  const person = await step(() => recipientOf(ctx, asked.contact))
  const content = given && contentWith(ctx, asked, given)
  if (content) await step(() => refuseBadTemplate(content.html, 'html', 'html'))
  if (content) await step(() => refuseBadTemplate(content.subject, 'text', 'subject'))
  return { content, person, refusals }
}

async function contentOf(ctx: Ctx, asked: PreviewAsked): Promise<Shown> {
  const { html, template_id, campaign_id } = asked
  const several = [html, template_id, campaign_id].filter((one) => one !== undefined)
  if (several.length > 1)
    throw invalidParameter({ message: 'Give only one of html, template_id and campaign_id.', param: 'html' })
  if (campaign_id !== undefined) return readCampaign(ctx, campaign_id)
  const template = await templateOf(ctx, template_id)
  if (template) return { subject: template.subject, html: template.html, sender: template.sender }
  if (html === undefined)
    throw contentMissing({ hint: 'Give html, template_id or campaign_id.', param: 'html' })
  return { subject: '', html }
}

function contentWith({ caller }: Ctx, { subject, params }: PreviewAsked, given: Shown): CampaignContent {
  return {
    id: noCampaign,
    preview_text: '',
    text: null,
    sender: { email: 'preview@posthorn.invalid' },
    reply_to: null,
    to_field: '',
    extras: {},
    ...given,
    ab_test: null,
    account_id: caller.accountId,
    subject: subject ?? given.ab_test?.subjectA ?? given.subject,
    html: storable(given.html),
    params: { ...given.params, ...params },
  }
}

async function recipientOf({ db, caller, now }: Ctx, contact: string | number | undefined) {
  if (contact === undefined) return { email: '', attributes: {} }
  const email = typeof contact === 'string' ? normalEmail(contact) : undefined
  if (typeof contact === 'string' && email === undefined)
    throw invalidParameter({
      message: 'contact must be an email address or an identifier.',
      param: 'contact',
    })
  const ref = email === undefined ? { id: String(contact) } : { email }
  const { accountId } = caller
  const found = await findContact(db, accountId, ref)
  if (!found)
    throw notFound({
      message: 'There is no such contact.',
      param: 'contact',
      hint: 'Give params in its place, or a contact that GET /v3/contacts lists.',
    })
  return { email: found.email ?? '', attributes: await readableOf(db, { accountId, now }, found) }
}
