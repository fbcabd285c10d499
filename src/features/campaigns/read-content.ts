// The content of a campaign: given, fetched, or copied from a template; refused with its place where it is broken.
import type { Ctx } from '../../kernel/ctx.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { given, storable } from '../../kernel/v3/lenient.ts'
import { toFieldSource, withLinks } from '../messages/templates/old-names.ts'
import { templatesHint } from '../transactional/stored-template.ts'
import { findTemplate, type UsedTemplate } from '../transactional/template-queries.ts'
import { refuseBadTemplate, refuseHiddenFooter } from '../transactional/v3/render.ts'
import type { CampaignBody } from './body.ts'
import { escapedSource, footerSource, headerSource, htmlSource } from './campaign-source.ts'
import type { CampaignFields } from './queries.ts'

// As the provider has them.
const tooShortHtml = 10
const longestHtml = 1_000_000

/** At most one of them. */
export function refuseSeveralContents({ htmlContent, htmlUrl, templateId }: CampaignBody): void {
  const names = [given(htmlContent) && 'htmlContent', given(htmlUrl) && 'htmlUrl', templateId && 'templateId']
  const several = names.filter((name) => name)
  if (several.length < 2) return
  throw invalidParameter({
    message: `Give only one of ${several.join(', ')}`,
    param: several[1] || undefined,
  })
}

export async function templateOf(ctx: Ctx, templateId: number | null | undefined) {
  if (!templateId) return undefined
  const found = await findTemplate(ctx.db, ctx.caller.accountId, templateId)
  const about = { param: 'templateId', hint: templatesHint }
  if (!found) throw invalidParameter({ message: `There is no template ${templateId}`, ...about })
  if (!found.is_active) throw invalidParameter({ message: `Template ${templateId} is not active`, ...about })
  return found
}

/** A rule of the compatible namespace alone: a sentence of two words is a campaign too. */
export function refuseShortHtml({ htmlContent }: CampaignBody): void {
  const html = given(htmlContent)
  if (html === undefined || html.trim().length > tooShortHtml) return
  throw invalidParameter({
    message: `htmlContent must have more than ${tooShortHtml} and at most ${longestHtml} characters`,
    param: 'htmlContent',
  })
}

export function htmlOf(body: CampaignBody, template: UsedTemplate | undefined): string | undefined {
  const html = given(body.htmlContent) ?? template?.html
  if (html === undefined || html.trim().length <= longestHtml) return html && storable(html)
  throw invalidParameter({
    message: `htmlContent must have at most ${longestHtml} characters`,
    param: 'htmlContent',
  })
}

/** Everything that is merged for a recipient, looked at before anybody is one. */
export async function refuseBadTemplates(fields: CampaignFields): Promise<void> {
  const { ab_test, extras } = fields
  const html: [string, string | undefined][] = [
    ['htmlContent', withLinks(fields.html)],
    ['previewText', escapedSource(fields.preview_text)],
    ['header', headerSource(extras.header)],
    ['footer', footerSource(extras.footer)],
  ]
  const text: [string, string | undefined][] = [
    ['subject', fields.subject],
    ['subjectA', ab_test?.subjectA],
    ['subjectB', ab_test?.subjectB],
    ['textContent', withLinks(fields.text ?? '')],
    ['toField', toFieldSource(fields.to_field)],
    ['sender', fields.sender.name],
  ]
  for (const [param, source] of html) if (source) await refuseBadTemplate(source, 'html', param)
  for (const [param, source] of text) if (source) await refuseBadTemplate(source, 'text', param)
  const pieces = { header: headerSource(extras.header), footer: footerSource(extras.footer) }
  for (const [param, source] of Object.entries(pieces)) await refuseHiddenFooter(source, param)
  if (fields.html !== '') await refuseHiddenFooter(htmlSource(fields, []), 'htmlContent')
  // Who sends it and from where is to be seen even where the content shows a way out by itself.
  const above = { ...fields, extras: { ...extras, footer: undefined } }
  if (fields.html !== '' && pieces.footer !== '')
    await refuseHiddenFooter(htmlSource(above, []), 'htmlContent', [])
}

// The fields are those of the saved campaign, whatever the call that wants to send it takes.
const completing =
  'PUT /v3/emailCampaigns/{id} gives a saved campaign what it lacks: subject, htmlContent or templateId, recipients.'

/** What must be there before anything is sent. */
export function refuseIncomplete({ html, subject, ab_test, recipients }: CampaignFields): void {
  const missing = (message: string, param: string) => missingParameter({ message, param, hint: completing })
  if (html === '')
    throw missing('The campaign has no content: give htmlContent, htmlUrl or templateId', 'htmlContent')
  if (subject.trim() === '' && !ab_test) throw missing('subject is missing', 'subject')
  const { listIds = [], segmentIds = [] } = recipients
  if (listIds.length + segmentIds.length === 0)
    throw missing('The campaign has no recipients: give listIds or segmentIds', 'recipients')
}
