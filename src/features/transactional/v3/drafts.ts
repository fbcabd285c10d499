// From the body to one draft per version, checked in the provider's words.
import type { Address } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { given, mapOf } from '../../../kernel/v3/lenient.ts'
import { distinct, readMailboxes, readReplyTo } from './addresses.ts'
import { headersOf, type ReadHeaders, readHeaders } from './headers.ts'
import type { Content } from './render.ts'
import type { SendBody, Version } from './send-request.ts'

/** One message, to be copied to each of its recipients. */
export type Draft = {
  to: Address[]
  cc: Address[]
  recipients: Address[]
  replyTo: Address | undefined
  content: Content
  templateId: number | undefined
  params: Record<string, unknown>
  headers: ReadHeaders
}

const most = { versions: 1000, recipients: 2000, perVersion: 99, withAttachment: 99 }

export function isVersioned(body: SendBody): boolean {
  return (body.messageVersions ?? []).length > 0
}

export function readDrafts(body: SendBody): Draft[] {
  const versions = body.messageVersions ?? []
  if (versions.length > most.versions) refuse(`messageVersions must have at most ${most.versions} entries`)
  // The recipients of the whole are not those of a version.
  const drafts = isVersioned(body)
    ? versions.map((version) => draftOf({ ...body, to: undefined }, version))
    : [draftOf(body, {})]
  refuseTooMany(body, drafts)
  return drafts
}

function draftOf(body: SendBody, version: Version): Draft {
  const to = distinct(readMailboxes(version.to ?? body.to, 'to'))
  if (to.length === 0) throw missingParameter({ message: 'to is missing', param: 'to' })
  const cc = readMailboxes(version.cc ?? body.cc, 'cc')
  const bcc = readMailboxes(version.bcc ?? body.bcc, 'bcc')
  return {
    to,
    cc: distinct(cc),
    recipients: distinct([...to, ...cc, ...bcc]),
    replyTo: readReplyTo(version.replyTo) ?? readReplyTo(body.replyTo),
    content: {
      subject: given(version.subject) ?? given(body.subject),
      html: given(version.htmlContent) ?? given(body.htmlContent),
      text: given(version.textContent) ?? given(body.textContent),
    },
    templateId: version.templateId || body.templateId || undefined,
    params: { ...mapOf(body.params), ...mapOf(version.params) },
    headers: readHeaders(headersOf(body.headers, version.headers)),
  }
}

function refuseTooMany(body: SendBody, drafts: Draft[]): void {
  const [largest, total] = [
    Math.max(...drafts.map(({ recipients }) => recipients.length)),
    drafts.reduce((sum, { recipients }) => sum + recipients.length, 0),
  ]
  if (isVersioned(body) && largest > most.perVersion) {
    refuse(`A message version must have at most ${most.perVersion} recipients`)
  }
  if ((body.attachment ?? []).length > 0 && largest > most.withAttachment) {
    refuse(`A message with attachments must have at most ${most.withAttachment} recipients`)
  }
  if (total > most.recipients) refuse(`A request must have at most ${most.recipients} recipients`)
}

function refuse(message: string): never {
  throw invalidParameter({ message })
}
