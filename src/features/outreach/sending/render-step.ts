// A step of a sequence for one prospect: what its templates see, and where in the thread it stands.
import { given, oneLine } from '../../../kernel/v3/lenient.ts'
import { contentMissing } from '../../messages/refusals.ts'
import { renderContent } from '../../transactional/v3/render.ts'
import { hasContent } from '../sequences/has-content.ts'
import type { Step } from '../sequences/sequence.ts'
import { replySubject } from './compose-outreach.ts'

export type StepProspect = {
  email: string
  first_name: string
  last_name: string
  company: string
  attributes: Record<string, unknown>
  source: string
}

export type StepScope = {
  prospect: StepProspect
  sender: { email: string; name: string }
  unsubscribeUrl: string
  now: Date
}

type Earlier = { message_id: string; subject: string }

export type RenderedStep = { subject: string; text?: string; html?: string; refs: string[] }

/** Throws a refusal where the templates give nothing to send. `thread`: what really went out before. */
export async function renderStep(step: Step, scope: StepScope, thread: Earlier[]): Promise<RenderedStep> {
  const [first] = thread
  const goesOn = step.sameThread && first !== undefined
  const subject = goesOn ? replySubject(first.subject) : step.subject
  const content = { subject: goesOn ? 'x' : subject, text: step.text, html: step.html }
  const rendered = await renderContent(content, scopeOf(scope))
  // A footer alone would leave.
  if (!hasContent(rendered)) throw contentMissing()
  return {
    subject: goesOn ? oneLine(subject) : rendered.subject,
    text: given(rendered.text),
    // One that shows nothing would hide the text.
    html: hasContent({ html: rendered.html }) ? rendered.html : undefined,
    refs: goesOn ? thread.map(({ message_id }) => message_id) : [],
  }
}

/** The prospect's own fields, its attributes beside them, and the names that campaigns have for the same things. */
function scopeOf({ prospect, sender, unsubscribeUrl, now }: StepScope) {
  const { email, first_name, last_name, company, attributes, source } = prospect
  const own = { email, firstName: first_name, lastName: last_name, company, source }
  const contact = {
    ...attributes,
    EMAIL: email,
    FIRSTNAME: first_name,
    LASTNAME: last_name,
    COMPANY: company,
  }
  const others = { unsubscribe_url: unsubscribeUrl, time_now: now }
  return { ...attributes, ...own, attributes, prospect: { ...own, attributes }, contact, sender, ...others }
}
