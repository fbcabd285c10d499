// The Message-ID of RFC 5322 holds the identifier of its row, so that one is found by the other without an index. It is
// shared by all copies of a message and belongs to the first; what others made, or share, has an index of its own.
import { newUuid, readId, showId } from '../../kernel/id.ts'

export function newMessageId(domain: string): { id: string; messageId: string } {
  const id = newUuid()
  return { id, messageId: `<${showId('', id).slice(1)}@${domain}>` }
}

/** Of one that we made: the identifier it holds. */
export function idIn(messageId: string): string | undefined {
  return readId('', `_${/^<([^@]*)@/.exec(messageId)?.[1] ?? ''}`)
}
