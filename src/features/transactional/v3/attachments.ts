import { isBase64 } from '../../../kernel/base64.ts'
import type { Ctx } from '../../../kernel/ctx.ts'
import { urlOf } from '../../../kernel/location.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter, missingParameter, payloadTooLarge } from '../../../kernel/refusals.ts'
import { openShare } from '../../../kernel/share.ts'
import { given, oneLine } from '../../../kernel/v3/lenient.ts'
import { readUrl } from '../../../kernel/v3/url.ts'
import type { Attachment } from '../../messages/queue-messages.ts'
import { lookup } from '../content-types.ts'
import type { AttachmentGiven, SendBody } from './send-request.ts'

/** Gets what stands at a public address; refuses private ones, redirects and what is too large, as soon as it is. */
export type FetchAttachment = (url: string, mostBytes?: number) => Promise<Buffer>

/** What is left to all files of one request. */
export type Room = { bytes: number; files: number; until: number }

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
const param = 'attachment'
const mostAttachments = 50
const mostBytes = 20 * 1024 * 1024
/** Each waits for a server of the customer's choice. */
const fetched = { most: 20, withinMs: 60_000 }

/** Beside what the request brings itself. */
export function roomBeside(attachment: SendBody['attachment']): Room {
  const bytes = mostBytes - givenBytes(attachment ?? [])
  if (bytes < 0) throw tooMuch()
  return { bytes, files: fetched.most, until: performance.now() + fetched.withinMs }
}

/** Gets one more file of a request, for as long as there is room: what is too much is not waited for to its end. */
export async function fetchInto(room: Room, fetch: FetchAttachment, url: string): Promise<Buffer> {
  if (room.files === 0)
    throw invalidParameter({ message: `At most ${fetched.most} files are fetched`, param })
  if (performance.now() > room.until) throw new Error('the files before it took too long together')
  room.files--
  const content = await fetch(url, room.bytes).catch((error: unknown) => {
    throw isTooLarge(error) ? tooMuch() : error
  })
  room.bytes -= content.length
  if (room.bytes < 0) throw tooMuch()
  return content
}

const isTooLarge = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'too_large'

export function readAttachments(attachment: SendBody['attachment']): Attachment[] {
  const all = attachment ?? []
  refuseTooMany(all)
  // Before any is decoded.
  if (givenBytes(all) > mostBytes) throw tooMuch()
  return all.map(readAttachment)
}

function refuseTooMany(all: AttachmentGiven[]): void {
  if (all.length <= mostAttachments) return
  throw invalidParameter({ message: `attachment must have at most ${mostAttachments} entries`, param })
}

export function refuseTooMuch(attachments: Attachment[]): Attachment[] {
  if (attachments.reduce((sum, { content }) => sum + content.length, 0) <= mostBytes) return attachments
  throw tooMuch()
}

const tooMuch = () => payloadTooLarge({ message: 'The attachments are larger than 20 MB together.', param })

const givenBytes = (all: AttachmentGiven[]) =>
  all.reduce((sum, one) => sum + Buffer.byteLength(withoutSpace(one), 'base64'), 0)

const withoutSpace = ({ content = '' }: AttachmentGiven) => content.replaceAll(/\s/g, '')

function readAttachment(attachment: AttachmentGiven): Attachment {
  const filename = nameOf(attachment)
  const content = withoutSpace(attachment)
  if (content === '') throw missingParameter({ message: 'content is missing in attachment', param })
  if (!isBase64(content, { padded: false })) {
    throw invalidParameter({ message: 'content is not valid in attachment', param })
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
  if (filename === '') throw missingParameter({ message: 'name is missing in attachment', param })
  const extension = extensionOf(filename)
  if (extensions.has(extension)) return filename
  const fault = extension === '' ? 'no extension' : 'an extension that is not allowed'
  throw invalidParameter({ message: `${filename} has ${fault}`, param })
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

// What was fetched is in memory until all of it is there: slow servers must not make one account fill it.
export const fetchTurns = openShare(8, 30_000)

/** The same body with the contents in place of their addresses, so that the act need not wait for anybody. */
export async function fetchAttachments(
  { caller }: Pick<Ctx, 'caller'>,
  fetch: FetchAttachment,
  body: SendBody,
  room: Room,
): Promise<SendBody> {
  const all = body.attachment ?? []
  const addresses = all.filter(isAddress)
  if (addresses.length === 0) return body
  refuseTooMany(all)
  if (addresses.length > room.files)
    throw invalidParameter({
      message: `attachment must have at most ${room.files} entries with a url`,
      param,
    })
  const attachment = await fetchTurns(caller.accountId, () =>
    fetchAll((url) => fetchInto(room, fetch, url), all),
  )
  return { ...body, attachment }
}

/** One after the other: a request must not open dozens of connections at once. */
async function fetchAll(fetch: FetchAttachment, all: AttachmentGiven[]): Promise<AttachmentGiven[]> {
  const whole: AttachmentGiven[] = []
  for (const one of all) whole.push(isAddress(one) ? await fetchOne(fetch, one) : one)
  return whole
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
    throw unreadable(url, error, param)
  })
  return { name: filename, content: content.toString('base64') }
}

/** A refusal stays what it is. */
export function unreadable(url: string, error: unknown, field: string): Refusal {
  if (error instanceof Refusal) return error
  const why = error instanceof Error ? error.message : String(error)
  return invalidParameter({ message: `The attachment ${url} could not be read: ${why}`, param: field })
}
