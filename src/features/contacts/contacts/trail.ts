// Tags of a contact, and the history of its changes.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { oneLine } from '../../../kernel/v3/lenient.ts'
import { ownLimits, pageBySlice } from '../../../kernel/v3/paging.ts'
import type { ContactRef } from './queries.ts'
import { holdContact, readContact } from './read-ref.ts'
import { addTags, countChanges, listChanges, removeTags } from './trail-queries.ts'

const longestTag = 100

export const TagsBody = closed({ tags: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }) })

export async function changeTags(
  ctx: Ctx,
  ref: ContactRef,
  body: Static<typeof TagsBody>,
  how: 'add' | 'remove',
): Promise<{ tags: string[] }> {
  const tags = readTags(body.tags)
  const { id } = await holdContact(ctx, ref)
  const change = { accountId: ctx.caller.accountId, contactId: id, tags, at: ctx.now }
  if (how === 'add') return addTags(ctx.db, change)
  // One that was written before tags had one form goes in the form that it has.
  return removeTags(ctx.db, { ...change, tags: [...tags, ...body.tags.map(oneLine)] })
}

export function readTags(given: string[]): string[] {
  const tags = [...new Set(given.map((tag) => oneLine(tag).normalize('NFC')))]
  if (tags.every((tag) => tag !== '' && tag.length <= longestTag)) return tags
  throw invalidParameter({ message: `A tag has 1 to ${longestTag} characters`, param: 'tags' })
}

type Asked = { limit?: number; offset?: number; cursor?: string }

export async function pageOfChanges(ctx: Ctx, ref: ContactRef, query: Asked) {
  const { accountId } = ctx.caller
  const { id } = await readContact(ctx, ref)
  const list = { name: 'v3.contact.history', filter: { id }, ...ownLimits }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listChanges(ctx.db, accountId, id, slice),
  )
  const { count } = await countChanges(ctx.db, accountId, id)
  const history = rows.map((row) => ({
    attribute: row.attribute,
    oldValue: row.old_value,
    newValue: row.new_value,
    changedAt: row.changed_at.toISOString(),
    source: row.source,
  }))
  return { count, history, next_cursor: nextCursor }
}
