import { type Static, Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { operation } from '../../kernel/operation.ts'
import { invalidParameter, missingParameter, notFound, payloadTooLarge } from '../../kernel/refusals.ts'
import { closed, orNull, Time } from '../../kernel/schema.ts'
import { optional } from '../../kernel/v3/lenient.ts'
import { listQuery, ownLimits, pageBySlice } from '../../kernel/v3/paging.ts'
import { outOfRange } from '../../kernel/v3/refusals.ts'
import { readUrl } from '../../kernel/v3/url.ts'
import { inMegabytes, mediaLimits } from './limits.ts'
import { nameInUrl } from './names.ts'
import { countImages, findImage, type ImageRow, listImages, markDeleted } from './queries.ts'
import { addressOf, isUuid } from './read-image.ts'
import { mediaFull, mediaUnavailable } from './refusals.ts'
import { keepImage, type StoreNeeds, storeImage } from './store-image.ts'

export type MediaNeeds = StoreNeeds & {
  baseUrl: string
  /** Gets what stands at a public address; refuses private ones, redirects and what is too large. */
  fetchImage: (url: string) => Promise<Buffer>
}

const Image = closed({
  uuid: Type.String(),
  url: Type.String({ description: 'Open to everybody; it never shows another image' }),
  name: Type.String(),
  contentType: Type.String(),
  width: Type.Integer(),
  height: Type.Integer({ description: 'Of one frame' }),
  size: Type.Integer({ description: 'Bytes' }),
  createdAt: Time,
})

function show(baseUrl: string, image: ImageRow): Static<typeof Image> {
  return {
    uuid: image.uuid,
    url: addressOf(baseUrl, image),
    name: image.name,
    contentType: image.content_type,
    width: image.width,
    height: image.height,
    size: image.size,
    createdAt: image.created_at.toISOString(),
  }
}

const read = { area: 'Media library', scope: 'analytics.read', effect: 'read' } as const
const write = { area: 'Media library', scope: 'settings.write', effect: 'change' } as const
const params = closed({ uuid: Type.String({ maxLength: 100 }) })
const name = optional(Type.String({ description: 'What people see; the name of the file when absent' }))

const kinds = `PNG, JPEG, GIF or WebP, up to ${inMegabytes(mediaLimits.fileBytes)}`
const { fileBytes } = mediaLimits
// Four characters for three bytes, and room for the rest of the body.
const base64Characters = Math.ceil(fileBytes / 3) * 4
const roomForRest = 64 * 1024

export const createImageV3 = (needs: MediaNeeds) =>
  operation({
    ...write,
    name: 'media.create',
    http: 'POST /v3/media',
    summary: 'Upload an image',
    description:
      `${kinds}. It is written anew, upright and without metadata; animations stay. Send a form with the field ` +
      '`file`, or JSON.',
    perMinute: 60,
    body: closed({ name, content: Type.String({ description: 'The image in base64' }) }),
    maxBodyBytes: base64Characters + roomForRest,
    upload: { field: 'file', content: 'content', name: 'name', maxBytes: fileBytes },
    secret: ['content'],
    status: 201,
    reply: Image,
    refusals: [mediaFull, mediaUnavailable],
    prepare: async (ctx, { body, ...input }) => {
      const given = { content: readBase64(body.content), name: body.name, param: 'content' }
      return { ...input, body: { name: body.name, ...(await storeImage(needs, ctx, given)) } }
    },
  }).run(async (ctx, { body: { uuid } }) => show(needs.baseUrl, await keepImage(ctx, uuid)))

function readBase64(given: string): Buffer {
  if (given.trim() === '')
    throw missingParameter({
      message: 'The image is empty: content, or the file of the form.',
      param: 'content',
    })
  const content = decoded(given) ?? decoded(given.replaceAll(/\s+/g, ''))
  if (!content) throw invalidParameter({ message: 'content is not valid base64', param: 'content' })
  if (content.length <= fileBytes) return content
  throw payloadTooLarge({ message: `The image is larger than ${inMegabytes(fileBytes)}.`, param: 'content' })
}

/** Undefined when something else stands in it, which the decoder would skip. */
function decoded(base64: string): Buffer | undefined {
  const bare = base64.replace(/={1,2}$/, '')
  const content = Buffer.from(bare, 'base64')
  return content.length === Math.floor((bare.length * 3) / 4) ? content : undefined
}

export const fetchImageV3 = (needs: MediaNeeds) =>
  operation({
    ...write,
    name: 'media.fetch',
    http: 'POST /v3/emailCampaigns/images',
    summary: 'Upload the image at an address',
    description: `${kinds}. The address must be a public one and answer without a redirect.`,
    perMinute: 60,
    body: closed({ imageUrl: Type.String({ maxLength: 2_000, description: 'http or https' }), name }),
    // It may hold what opens it.
    secret: ['imageUrl'],
    status: 201,
    reply: closed({ url: Type.String() }),
    refusals: [mediaFull, mediaUnavailable],
    prepare: async (ctx, { body, ...input }) => {
      const url = readUrl(body.imageUrl, 'imageUrl')
      if (url === null) throw missingParameter({ message: 'imageUrl is missing', param: 'imageUrl' })
      const content = await needs.fetchImage(url).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error)
        throw invalidParameter({ message: `imageUrl could not be read: ${why}`, param: 'imageUrl' })
      })
      const given = { content, name: body.name ?? nameInUrl(url), param: 'imageUrl' }
      return { ...input, body: { ...body, ...(await storeImage(needs, ctx, given)) } }
    },
  }).run(async (ctx, { body: { uuid } }) => ({ url: addressOf(needs.baseUrl, await keepImage(ctx, uuid)) }))

export const listImagesV3 = ({ baseUrl }: MediaNeeds) =>
  operation({
    ...read,
    name: 'media.list',
    http: 'GET /v3/media',
    summary: 'List images, newest first',
    query: closed(listQuery),
    reply: closed({ count: Type.Integer(), images: Type.Array(Image), next_cursor: orNull(Type.String()) }),
    refusals: [outOfRange],
  }).run(async (ctx, { query }) => {
    const { accountId } = ctx.caller
    const list = { name: 'v3.media', filter: {}, ...ownLimits }
    const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
      listImages(ctx.db, accountId, slice),
    )
    const { count } = await countImages(ctx.db, accountId)
    return { count, images: rows.map((image) => show(baseUrl, image)), next_cursor: nextCursor }
  })

export const getImageV3 = ({ baseUrl }: MediaNeeds) =>
  operation({
    ...read,
    name: 'media.get',
    http: 'GET /v3/media/{uuid}',
    summary: 'Read about an image',
    params,
    reply: Image,
    refusals: [notFound],
  }).run(async (ctx, { params: { uuid } }) => {
    const image = await findImage(ctx.db, ownUuid(ctx, uuid))
    if (!image) throw noSuchImage()
    return show(baseUrl, image)
  })

export const deleteImageV3 = operation({
  ...write,
  name: 'media.delete',
  http: 'DELETE /v3/media/{uuid}',
  summary: 'Delete an image; its address answers 404 from then on',
  description: 'Mail programs and proxies may go on showing the copy that they have.',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { uuid } }) => {
  const deleted = await markDeleted(ctx.db, ownUuid(ctx, uuid), 'stored', ctx.now)
  if (deleted === 0) throw noSuchImage()
  return null
})

const noSuchImage = () => notFound({ message: 'There is no such image.' })

/** What no identifier can be reaches no statement. */
function ownUuid({ caller }: Ctx, given: string) {
  const uuid = given.toLowerCase()
  if (!isUuid(uuid)) throw noSuchImage()
  return { accountId: caller.accountId, uuid }
}
