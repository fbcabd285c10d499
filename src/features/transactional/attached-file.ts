// The file that a template or a campaign names by its address: read when something is sent, never kept with it.
import type { Ctx } from '../../kernel/ctx.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { oneLine } from '../../kernel/v3/lenient.ts'
import { readUrl } from '../../kernel/v3/url.ts'
import { within } from '../../kernel/within.ts'
import type { Attachment } from '../messages/queue-messages.ts'
import { templateInvalid } from '../messages/refusals.ts'
import { lookup } from './content-types.ts'
import { findAttachmentUrls, type UsedTemplate } from './template-queries.ts'
import {
  extensionOf,
  type FetchAttachment,
  fetchInto,
  fetchTurns,
  lastPart,
  plainExtensions,
  roomBeside,
  unreadable,
} from './v3/attachments.ts'

/** By their addresses. */
export type AttachedFiles = ReadonlyMap<string, Attachment>

const param = 'attachmentUrl'
const longestUrl = 2_048

/** Null when none is given. */
export function readAttachmentUrl(text: string | undefined): string | null {
  const url = readUrl(text, param)
  if (url === null) return null
  if (url.length > longestUrl)
    throw invalidParameter({ message: `${param} must have at most ${longestUrl} characters`, param })
  if (plainExtensions.has(extensionOf(nameOf(url)))) return url
  throw invalidParameter({ message: `${param} must end with an extension that is allowed`, param })
}

const nameOf = (url: string) => oneLine(lastPart(url)).slice(-255)

// Whoever waits for a file waits for a server of the customer's choice.
const patienceMs = 15_000

export async function fetchFile(fetch: FetchAttachment, url: string): Promise<Attachment> {
  const late = () => new Error('it did not answer in time')
  const content = await within(patienceMs, fetch(url), late).catch((error: unknown) => {
    throw unreadable(url, error, param)
  })
  const filename = nameOf(url)
  return { filename, contentType: lookup(filename), contentId: null, content }
}

/** What these templates have attached; fetched outside any transaction. */
export async function fetchFilesOf(
  ctx: Ctx,
  fetch: FetchAttachment,
  templateIds: number[],
  room = roomBeside(undefined),
) {
  const files = new Map<string, Attachment>()
  if (templateIds.length === 0) return files
  const ids = [...new Set(templateIds)]
  const urls = await ctx.db.gathered(findAttachmentUrls, { accountId: ctx.caller.accountId, ids })
  if (urls.length === 0) return files
  if (urls.length > room.files)
    throw templateInvalid({ message: `The templates have more than ${room.files} attachments together.` })
  const fetchNext: FetchAttachment = (url) => fetchInto(room, fetch, url)
  await fetchTurns(ctx.caller.accountId, async () => {
    // One after the other: a request must not open dozens of connections at once.
    for (const url of urls) files.set(url, await fetchFile(fetchNext, url))
  })
  return files
}

/** The same for a send of the own namespace, which knows the file as its template's. */
export async function fetchFilesOfOne(
  ctx: Ctx,
  fetch: FetchAttachment,
  templateId: number | undefined,
): Promise<AttachedFiles> {
  try {
    return await fetchFilesOf(ctx, fetch, templateId === undefined ? [] : [templateId])
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(error.declaration, { ...error.told, message: error.message, param: 'template_id' })
  }
}

/** The template was read again since its file was fetched. */
export function filesFor(template: UsedTemplate | undefined, files: AttachedFiles | undefined): Attachment[] {
  const url = template?.attachment_url ?? null
  if (url === null) return []
  const file = files?.get(url)
  if (file) return [file]
  throw templateInvalid({ message: `Template ${template?.id} was changed a moment ago: call again.` })
}
