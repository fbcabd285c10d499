// Subject, HTML, text and the names of sender and recipient are templates under /v3, stored or inline.
import type { Address } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { given, oneLine, storable } from '../../../kernel/v3/lenient.ts'
import { faultOfHidden, readGround } from '../../messages/footer/ground.ts'
import { faultOfLongSubject, longestSubject } from '../../messages/model.ts'
import { contentMissing, templateInvalid } from '../../messages/refusals.ts'
import { type compileTemplate, type TemplateScope, templateCache } from '../../messages/templates/compile.ts'
import { isTemplateFault, withPlace } from '../../messages/templates/fault.ts'
import { inTurn, type RenderTime, renderTime } from '../../messages/templates/turns.ts'
import { refuseLongName } from './addresses.ts'

const compiled = templateCache({ max: 500 })

type Kind = Parameters<typeof compileTemplate>[1]

export type Content = { subject?: string; html?: string; text?: string }
export type Rendered = { subject: string; html?: string; text?: string }

/** `time`: of the call, where it renders more than this. */
export async function renderContent(
  content: Content,
  scope: TemplateScope,
  time = renderTime(),
): Promise<Rendered> {
  const render = (source: string, kind: Kind, param: string) => rendered({ source, kind, param }, scope, time)
  const [html, text] = [given(content.html), given(content.text)]
  if (html === undefined && text === undefined) throw contentMissing()
  const subject = oneLine(await render(content.subject ?? '', 'text', 'subject'))
  if (subject === '') throw missingParameter({ message: 'subject is missing', param: 'subject' })
  if (subject.length > longestSubject)
    throw invalidParameter({ message: faultOfLongSubject, param: 'subject' })
  return {
    subject,
    html: html && storable(await render(html, 'html', 'htmlContent')),
    text: text && storable(await render(text, 'text', 'textContent')),
  }
}

/** The address with its name rendered; a name that renders to nothing is none. */
export async function renderName(
  { email, name = '' }: Address,
  scope: TemplateScope,
  param: string,
  time = renderTime(),
): Promise<Address> {
  const written = oneLine(await rendered({ source: name, kind: 'text', param }, scope, time))
  refuseLongName(written, param)
  return written === '' ? { email } : { email, name: written }
}

type Written = { source: string; kind: Kind; param: string }

async function rendered(
  { source, kind, param }: Written,
  scope: TemplateScope,
  time: RenderTime,
): Promise<string> {
  if (!/\{[{%#]/.test(source)) return source
  return refusingFaults(param, async () => {
    const template = await inTurn(() => compiled(source, kind), time)
    return template.render(scope, time)
  })
}

/** Refuses what does not compile, with its place. */
export async function refuseBadTemplate(source: string, kind: Kind, param: string): Promise<void> {
  await refusingFaults(param, async () => compiled(source, kind))
}

const leaving = { unsubscribe_url: 'https://leave.invalid/', preferences_url: 'https://choose.invalid/' }

/**
 * Refuses HTML that hides what is put behind it, unless it shows a link to leave by itself. It is rendered for nobody:
 * what only some values open is found when it is sent.
 */
export async function refuseHiddenFooter(
  source: string,
  param: string,
  links: string[] = Object.values(leaving),
): Promise<void> {
  await refusingFaults(param, async () => {
    const html = await compiled(source, 'html').render(leaving, renderTime()).catch(nothingOfFault)
    const ground = readGround(html, links)
    const fault = ground.isLinked ? undefined : faultOfHidden(html, ground)
    if (fault) throw fault
  })
}

// What cannot be rendered without values is no fault yet.
function nothingOfFault(error: unknown): string {
  if (isTemplateFault(error)) return ''
  throw error
}

export async function refusingFaults<T>(param: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isTemplateFault(error)) throw error
    throw templateInvalid({ message: `${param} is not a valid template: ${withPlace(error)}`, param })
  }
}
