// The tags of a send: each recipient's message has all of them.
import { invalidParameter } from '../../../kernel/refusals.ts'
import { oneLine } from '../../../kernel/v3/lenient.ts'
import type { SendBody } from './send-request.ts'

const mostTags = 20
const longestTag = 255

export function readTags(tags: SendBody['tags']): string[] {
  const given = tags ?? []
  if (given.length > mostTags)
    throw invalidParameter({ message: `tags must have at most ${mostTags} entries`, param: 'tags' })
  return given.map((tag) => cut(oneLine(tag))).filter((tag) => tag !== '')
}

/** A character of two halves is not cut in two. */
export const cut = (tag: string) => tag.slice(0, longestTag).toWellFormed()
