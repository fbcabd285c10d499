// Subject, HTML, text and the names of sender and recipient are templates under /v3, stored or inline.
import type { Address } from '../../../kernel/email-address.ts'
import { missingParameter } from '../../../kernel/refusals.ts'
import { given, oneLine, storable } from '../../../kernel/v3/lenient.ts'
import { contentMissing, templateInvalid } from '../../messages/refusals.ts'
import { type compileTemplate, type TemplateScope, templateCache } from '../../messages/templates/compile.ts'
import { isTemplateFault } from '../../messages/templates/fault.ts'

const compiled = templateCache({ max: 500 })

type Kind = Parameters<typeof compileTemplate>[1]

export type Content = { subject?: string; html?: string; text?: string }
export type Rendered = { subject: string; html?: string; text?: string }

export async function renderContent(content: Content, scope: TemplateScope): Promise<Rendered> {
  const [html, text] = [given(content.html), given(content.text)]
  if (html === undefined && text === undefined) throw contentMissing()
  const subject = oneLine(await render(content.subject ?? '', 'text', scope, 'subject'))
  if (subject === '') throw missingParameter({ message: 'subject is missing', param: 'subject' })
  return {
    subject,
    html: html && storable(await render(html, 'html', scope, 'htmlContent')),
    text: text && storable(await render(text, 'text', scope, 'textContent')),
  }
}

/** The address with its name rendered; a name that renders to nothing is none. */
export async function renderName(
  { email, name = '' }: Address,
  scope: TemplateScope,
  param: string,
): Promise<Address> {
  const rendered = oneLine(await render(name, 'text', scope, param))
  return rendered === '' ? { email } : { email, name: rendered }
}

async function render(source: string, kind: Kind, scope: TemplateScope, param: string): Promise<string> {
  if (!/\{[{%#]/.test(source)) return source
  return refusingFaults(param, () => compiled(source, kind).render(scope))
}

/** Refuses what does not compile, with its place. */
export async function refuseBadTemplate(source: string, kind: Kind, param: string): Promise<void> {
  await refusingFaults(param, async () => compiled(source, kind))
}

export async function refusingFaults<T>(param: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isTemplateFault(error)) throw error
    const place = error.line > 0 ? ` (line ${error.line}, column ${error.column})` : ''
    throw templateInvalid({ message: `${param} is not a valid template: ${error.message}${place}`, param })
  }
}
