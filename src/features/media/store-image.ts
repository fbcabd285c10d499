// From the bytes of a caller to an image with an address. The row comes first and says that a file may be there; only
// when the file is whole does the row become an image. Whatever is interrupted on the way is cleared away later.
import { randomUUID } from 'node:crypto'
import type { Ctx } from '../../kernel/ctx.ts'
import type { Log } from '../../kernel/log.ts'
import type { FileStorage } from '../../kernel/ports.ts'
import { type Encoded, encodeImage } from './encode-image.ts'
import { imageTypes } from './image-type.ts'
import { readName } from './names.ts'
import { type ImageRow, insertPending, markDeleted, markStored, type NewImage } from './queries.ts'
import { mediaFull, mediaUnavailable } from './refusals.ts'

export type StoreNeeds = { storage: FileStorage; log: Log }

export type GivenImage = { content: Buffer; name: string | null | undefined; param: string }

// Much longer than any write may take: who comes later must not find somebody else still writing.
const pendingMs = 15 * 60_000

/** Outside any transaction. Gives what `keepImage` then makes an image of. */
export async function storeImage(needs: StoreNeeds, ctx: Ctx, given: GivenImage): Promise<{ uuid: string }> {
  const { content, param } = given
  const encoded = await encodeImage({ accountId: ctx.caller.accountId, content, param })
  const image = newImage(ctx, encoded, given.name)
  if (!(await insertPending(ctx.db, image))) throw mediaFull()
  try {
    await needs.storage.write(image.file, encoded.content, image.content_type)
  } catch (error) {
    needs.log.error({ err: error, requestId: ctx.requestId }, 'an image could not be stored')
    await markDeleted(ctx.db, { accountId: image.account_id, uuid: image.uuid }, 'pending', ctx.now)
    throw mediaUnavailable()
  }
  return { uuid: image.uuid }
}

function newImage(ctx: Ctx, { type, content, width, height }: Encoded, name: GivenImage['name']): NewImage {
  const uuid = randomUUID()
  const { contentType, ending } = imageTypes[type]
  return {
    account_id: ctx.caller.accountId,
    uuid,
    name: readName(name, `image.${ending}`),
    content_type: contentType,
    file: `${uuid.slice(0, 2)}/${uuid.slice(2, 4)}/${uuid}.${ending}`,
    width,
    height,
    size: content.length,
    created_at: ctx.now,
    clear_at: new Date(ctx.now.getTime() + pendingMs),
  }
}

export async function keepImage({ db, caller }: Ctx, uuid: string): Promise<ImageRow> {
  const kept = await markStored(db, { accountId: caller.accountId, uuid })
  if (!kept) throw mediaUnavailable({ message: 'Storing the image took too long.' })
  return kept
}
