// The public addresses of images. No key: whoever has the address may see it.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { inlineDisposition } from '../../features/media/names.ts'
import type { ImageRow } from '../../features/media/queries.ts'
import { endingOf, readImage } from '../../features/media/read-image.ts'
import { mediaUnavailable } from '../../features/media/refusals.ts'
import type { Gates } from '../../gates/gates.ts'
import type { FileStorage } from '../../kernel/ports.ts'
import { notFound } from '../../kernel/refusals.ts'

export type MediaFaceNeeds = { gates: Gates; storage: FileStorage }

type Addressed = { Params: { uuid: string } }

const noStore = { 'cache-control': 'no-store' }

export function serveMedia(app: FastifyInstance, needs: MediaFaceNeeds): void {
  const handler = async (request: FastifyRequest<Addressed>, reply: FastifyReply) => {
    const image = await readImage(needs.gates.db, request.params.uuid)
    if (!image) throw missing()
    const tag = `"${image.uuid}"`
    const isKnown = knows(request.headers['if-none-match'], tag)
    const file = isKnown || request.method === 'HEAD' ? undefined : await open(needs, image)
    reply.headers({ ...headersOf(image), etag: tag })
    if (isKnown) return reply.code(304).send()
    return reply.type(image.content_type).header('content-length', image.size).send(file)
  }
  // Both by name: the framework's own HEAD would tell the length of what it sends, nothing.
  app.route<Addressed>({ method: ['GET', 'HEAD'], url: '/m/:uuid', handler })
}

async function open({ gates, storage }: MediaFaceNeeds, image: ImageRow): Promise<Readable> {
  const file = await storage.read(image.file).catch((error: Error) => {
    gates.log.error({ err: error, image: image.uuid }, 'an image could not be read')
    throw mediaUnavailable({ headers: noStore })
  })
  // Deleted between the two looks.
  if (!file) throw missing()
  return file
}

const missing = () => notFound({ message: 'There is no such image.', headers: noStore })

/** It is somebody's file on our address: an image to be shown, and nothing that could run. */
const headersOf = (image: ImageRow) => ({
  'cache-control': 'public, max-age=31536000, immutable',
  'content-disposition': inlineDisposition(image.name, endingOf(image)),
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
})

function knows(given: string | undefined, tag: string): boolean {
  const tags = (given ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  return tags.includes(tag) || tags.includes('*')
}
