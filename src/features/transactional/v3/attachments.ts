import { isBase64 } from '../../../kernel/base64.ts'
import { urlOf } from '../../../kernel/location.ts'
import { invalidParameter, missingParameter, payloadTooLarge } from '../../../kernel/refusals.ts'
import { given, oneLine } from '../../../kernel/v3/lenient.ts'
import { readUrl } from '../../../kernel/v3/url.ts'
import type { Attachment } from '../../messages/queue-messages.ts'
import { lookup } from '../content-types.ts'
import type { AttachmentGiven, SendBody } from './send-request.ts'

/** Gets what stands at a public address; refuses private ones, redirects and what is too large. */
export type FetchAttachment = (url: string) => Promise<Buffer>

const words = (text: string) => text.split(/\s+/)
/** Also of files that templates and campaigns name. */
export const plainExtensions = new Set(
  words(`xlsx xls ods docx docm doc csv pdf txt gif jpg jpeg png tif tiff rtf bmp cgm css shtml html htm zip xml ppt
  pptx tar ez ics mobi msg pub eps`),
)
const extensions = new Set([
  ...plainExtensions,
  ...words('odt mp3 m4a m4v wma ogg flac wav aif aifc aiff mp4 mov avi mkv mpeg mpg wmv pkpass xlsm'),
])
const mostAttachments = 50
const mostBytes = 20 * 1024 * 1024

export function readAttachments(attachment: SendBody['attachment']): Attachment[] {
  const all = attachment ?? []
  if (all.length > mostAttachments) {
    throw invalidParameter({
      message: `attachment must have at most ${mostAttachments} entries`,
      param: 'attachment',
    })
  }
  return refuseTooMuch(all.map(readAttachment))
}

export function refuseTooMuch(attachments: Attachment[]): Attachment[] {
  if (attachments.reduce((sum, { content }) => sum + content.length, 0) <= mostBytes) return attachments
  throw payloadTooLarge({ message: 'The attachments are larger than 20 MB together.', param: 'attachment' })
}

function readAttachment(attachment: AttachmentGiven): Attachment {
  const filename = nameOf(attachment)
  const content = (attachment.content ?? '').replaceAll(/\s/g, '')
  if (content === '')
    throw missingParameter({ message: 'content is missing in attachment', param: 'attachment' })
  if (!isBase64(content, { padded: false })) {
    throw invalidParameter({ message: 'content is not valid in attachment', param: 'attachment' })
  }
  return {
    filename,
    contentType: lookup(filename),
    contentId: null,
    content: Buffer.from(content, 'base64'),
  }
}

function nameOf({ name, url }: AttachmentGiven): string {
  const filename = oneLine(given(name) ?? lastPart(given(url))).slice(0, 255)
  if (filename === '')
    throw missingParameter({ message: 'name is missing in attachment', param: 'attachment' })
  const extension = extensionOf(filename)
  if (extensions.has(extension)) return filename
  const fault = extension === '' ? 'no extension' : 'an extension that is not allowed'
  throw invalidParameter({ message: `${filename} has ${fault}`, param: 'attachment' })
}

export function extensionOf(filename: string): string {
  return filename.includes('.') ? filename.slice(filename.lastIndexOf('.') + 1).toLowerCase() : ''
}

export function lastPart(url: string | undefined): string {
  const part =
    urlOf(url ?? '')
      ?.pathname.split('/')
      .at(-1) ?? ''
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The same body with the contents in place of their addresses, so that the act need not wait for anybody. */
export async function fetchAttachments(fetch: FetchAttachment, body: SendBody): Promise<SendBody> {
  const all = body.attachment ?? []
  if (!all.some(isAddress)) return body
  if (all.length > mostAttachments) return body
  const fetched: AttachmentGiven[] = []
  // One after the other: a request must not open dozens of connections at once.
  for (const one of all) fetched.push(isAddress(one) ? await fetchOne(fetch, one) : one)
  return { ...body, attachment: fetched }
}

const isAddress = ({ url, content }: AttachmentGiven) =>
  given(url) !== undefined && given(content) === undefined

async function fetchOne(
  fetch: FetchAttachment,
  { url = '', name }: AttachmentGiven,
): Promise<AttachmentGiven> {
  readUrl(url, 'url in attachment')
  const filename = nameOf({ name, url })
  const content = await fetch(url).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw invalidParameter({
      message: `The attachment ${url} could not be read: ${why}`,
      param: 'attachment',
    })
  })
  return { name: filename, content: content.toString('base64') }
}
