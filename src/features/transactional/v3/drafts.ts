// From the body to one draft per version, checked in the provider's words.
import type { Address } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { given, mapOf } from '../../../kernel/v3/lenient.ts'
import { distinct, readMailboxes, readReplyTo } from './addresses.ts'
import { headersOf, type ReadHeaders, readHeaders } from './headers.ts'
import type { Content } from './render.ts'
import type { SendBody, Version } from './send-request.ts'

type Params = Record<string, unknown>

/** One message, to be copied to each of its recipients. */
export type Draft = {
  to: Address[]
  cc: Address[]
  recipients: Address[]
  replyTo: Address | undefined
  content: Content
  templateId: number | undefined
  /** Put together when they are needed: those of the whole, which may be many, with those of each version. */
  params: () => Params
  headers: ReadHeaders
}

const most = { versions: 1000, recipients: 2000, perVersion: 99, withAttachment: 99, params: 1000 }
// Somebody named again counts once, but not for ever.
const mostNamed = 10 * most.recipients

export function isVersioned(body: SendBody): boolean {
  return (body.messageVersions ?? []).length > 0
}

export function readDrafts(body: SendBody): Draft[] {
  // The recipients of the whole are not those of a version.
  const whole = isVersioned(body) ? { ...body, to: undefined } : body
  const versions: Version[] = isVersioned(body) ? (body.messageVersions ?? []) : [{}]
  refuseTooMany(whole, versions)
  const shared = sharedBy(whole)
  const drafts: Draft[] = []
  let total = 0
  for (const version of versions) {
    const draft = draftOf(shared, version)
    total += draft.recipients.length
    refuseTooManyRecipients(body, draft, total)
    drafts.push(draft)
  }
  return drafts
}

/** Before anything is read. */
function refuseTooMany(whole: SendBody, versions: Version[]): void {
  if (versions.length > most.versions) refuse(`messageVersions must have at most ${most.versions} entries`)
  const lists = [whole, ...versions].flatMap(({ to, cc, bcc }) => [to, cc, bcc])
  if (lists.reduce((sum, list) => sum + (list?.length ?? 0), 0) > mostNamed) refuseRecipients()
  // Those of the whole are put together with those of each version.
  const isMixed = versions.some(({ params }) => Object.keys(mapOf(params)).length > 0)
  if (isMixed && Object.keys(mapOf(whole.params)).length > most.params)
    refuse(`params must have at most ${most.params} entries beside those of a version`)
}

/** What versions take from the whole, read when the first of them does and not again for each. */
function sharedBy(whole: SendBody) {
  return {
    to: once(() => readMailboxes(whole.to, 'to')),
    cc: once(() => readMailboxes(whole.cc, 'cc')),
    bcc: once(() => readMailboxes(whole.bcc, 'bcc')),
    replyTo: once(() => readReplyTo(whole.replyTo)),
    content: contentOf(whole),
    templateId: whole.templateId,
    params: mapOf(whole.params),
    headers: readHeaders(whole.headers),
  }
}

function once<T>(work: () => T): () => T {
  let made: { of: T } | undefined
  return () => {
    made ??= { of: work() }
    return made.of
  }
}

function contentOf({ subject, htmlContent, textContent }: Version): Content {
  return { subject: given(subject), html: given(htmlContent), text: given(textContent) }
}

function draftOf(shared: ReturnType<typeof sharedBy>, version: Version): Draft {
  const to = distinct(version.to ? readMailboxes(version.to, 'to') : shared.to())
  if (to.length === 0) throw missingParameter({ message: 'to is missing', param: 'to' })
  const cc = version.cc ? readMailboxes(version.cc, 'cc') : shared.cc()
  const bcc = version.bcc ? readMailboxes(version.bcc, 'bcc') : shared.bcc()
  const { subject, html, text } = contentOf(version)
  return {
    to,
    cc: distinct(cc),
    recipients: distinct([...to, ...cc, ...bcc]),
    replyTo: readReplyTo(version.replyTo) ?? shared.replyTo(),
    content: {
      subject: subject ?? shared.content.subject,
      html: html ?? shared.content.html,
      text: text ?? shared.content.text,
    },
    templateId: version.templateId || shared.templateId || undefined,
    params: () => paramsOf(shared.params, mapOf(version.params)),
    headers: headersOf(shared.headers, version.headers),
  }
}

const paramsOf = (whole: Params, own: Params) =>
  Object.keys(own).length === 0 ? whole : { ...whole, ...own }

function refuseTooManyRecipients(body: SendBody, { recipients }: Draft, total: number): void {
  if (isVersioned(body) && recipients.length > most.perVersion)
    refuse(`A message version must have at most ${most.perVersion} recipients`)
  if ((body.attachment ?? []).length > 0 && recipients.length > most.withAttachment)
    refuse(`A message with attachments must have at most ${most.withAttachment} recipients`)
  if (total > most.recipients) refuseRecipients()
}

function refuseRecipients(): never {
  refuse(`A request must have at most ${most.recipients} recipients`)
}

function refuse(message: string): never {
  throw invalidParameter({ message })
}
