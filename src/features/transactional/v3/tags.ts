// The tags of a send: each recipient's message has all of them.
import { invalidParameter } from '../../../kernel/refusals.ts'
import { cut, oneLine } from '../../../kernel/v3/lenient.ts'
import type { SendBody } from './send-request.ts'

const mostTags = 20
const longestTag = 255

export function readTags(tags: SendBody['tags']): string[] {
  const given = tags ?? []
  if (given.length > mostTags)
    throw invalidParameter({ message: `tags must have at most ${mostTags} entries`, param: 'tags' })
  return given.map((tag) => cutTag(oneLine(tag))).filter((tag) => tag !== '')
}

export const cutTag = (tag: string) => cut(tag, longestTag)
