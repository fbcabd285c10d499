// A template as one contact, or whoever has these parameters, would get it.
import type { Ctx } from '../../../kernel/ctx.ts'
import { readEmail } from '../../../kernel/email-address.ts'
import { given } from '../../../kernel/v3/lenient.ts'
import { contactScope } from '../contact-scope.ts'
import { renderContent, renderName } from '../v3/render.ts'
import { sentTemplate } from './write-template.ts'

/** As contacts are kept; what is no address belongs to none. */
function addressOf(email: string | undefined): string | undefined {
  const asked = given(email)?.trim()
  return asked && (readEmail(asked) ?? asked)
}

type Reader = { params: Record<string, unknown>; email: string | undefined }

export async function previewTemplate(ctx: Ctx, id: number, { params, email }: Reader) {
  const { subject, html, sender } = await sentTemplate(ctx, id)
  const contact = await contactScope(ctx, addressOf(email), [subject, html, sender.name])
  const scope = { params, ...contact }
  const rendered = await renderContent({ subject, html }, scope)
  return {
    html: rendered.html ?? '',
    subject: rendered.subject,
    previewText: '',
    fromEmail: sender.email,
    fromName: (await renderName(sender, scope, 'sender')).name ?? '',
    usedFeedNames: [],
  }
}
