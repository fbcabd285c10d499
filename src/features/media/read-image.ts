// What stands at the public address of an image.
import type { Db } from '../../kernel/db.ts'
import { imageTypes } from './image-type.ts'
import { findPublicImage, type ImageRow } from './queries.ts'

const form = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const isUuid = (text: string) => form.test(text)

export function addressOf(baseUrl: string, { uuid }: Pick<ImageRow, 'uuid'>): string {
  return `${baseUrl}/m/${uuid}`
}

export function endingOf({ content_type }: Pick<ImageRow, 'content_type'>): string {
  const type = Object.values(imageTypes).find(({ contentType }) => contentType === content_type)
  return type?.ending ?? 'bin'
}

/** Asked each time: an image that was deleted is gone at once, whichever process is asked. */
export async function readImage(db: Db, uuid: string): Promise<ImageRow | undefined> {
  return isUuid(uuid) ? findPublicImage(db, uuid) : undefined
}
