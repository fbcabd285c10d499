// A page of contacts by the filters that the provider has, and how many there are.
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Page } from '../../../kernel/page.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { readSince } from '../../../kernel/v3/dates.ts'
import { countedPage, type Slice } from '../../../kernel/v3/paging.ts'
import { listAttributes } from '../attributes/queries.ts'
import { ownAttributes, readValue } from '../attributes/values.ts'
import { listMembers } from '../lists/member-queries.ts'
import { countSegment } from '../segments/count-segment.ts'
import { inColumnForm } from '../segments/read-condition.ts'
import { membersOf, readSegment } from '../segments/write-segment.ts'
import { type ContactFilter, countContacts, keptCount, listContacts } from './queries.ts'
import type { ContactRow } from './row-queries.ts'

export type ContactsAsked = {
  modifiedSince?: string
  createdSince?: string
  ids?: number[]
  listIds?: number[]
  segmentId?: number
  filter?: string
  limit?: number
  offset?: number
  sort?: 'asc' | 'desc'
  cursor?: string
}

export async function pageOfContacts(
  ctx: Ctx,
  asked: ContactsAsked,
): Promise<Page<ContactRow> & { count: number }> {
  const { limit: _limit, offset: _offset, sort: _sort, cursor: _cursor, ...filters } = asked
  const filter = await readFilter(ctx, asked)
  const list = { name: 'v3.contacts', filter: filters, usual: 50, most: 1000 }
  return countedPage(ctx, asked, list, {
    fetch: (slice) => pageOf(ctx, filter, slice),
    count: () => countOf(ctx, filter),
  })
}

/** The members of one list are walked in their own order: on a small list the newest contacts are none of them. */
function pageOf({ db, caller: { accountId } }: Ctx, filter: ContactFilter, slice: Slice) {
  const { listIds, modifiedSince, ...others } = filter
  const [listId, ...more] = listIds ?? []
  const isPlain = Object.values(others).every((value) => value === undefined)
  return listId !== undefined && more.length === 0 && isPlain
    ? listMembers(db, { accountId, listId }, modifiedSince, slice)
    : listContacts(db, accountId, filter, slice)
}

async function readFilter(ctx: Ctx, asked: ContactsAsked): Promise<ContactFilter> {
  return {
    modifiedSince: readSince(asked.modifiedSince, 'modifiedSince'),
    createdSince: readSince(asked.createdSince, 'createdSince'),
    ids: asked.ids?.map(String),
    listIds: asked.listIds?.map(String),
    segment: await readSegmentOf(ctx, asked),
    equals: asked.filter ? await readEquals(ctx, asked.filter) : undefined,
  }
}

async function readSegmentOf(ctx: Ctx, { segmentId, listIds }: ContactsAsked) {
  if (segmentId === undefined) return undefined
  if (listIds !== undefined)
    throw invalidParameter({ message: 'segmentId and listIds cannot be used together', param: 'segmentId' })
  return membersOf(await readSegment(ctx, segmentId))
}

/** Counting a million contacts takes far longer than a page of them: whole accounts and lists are kept counted. */
async function countOf({ db, caller }: Ctx, filter: ContactFilter): Promise<number> {
  const { listIds, ...others } = filter
  const isPlain = Object.values(others).every((value) => value === undefined)
  if (isPlain && (listIds === undefined || listIds.length === 1)) {
    const kept = await keptCount(db, caller.accountId, listIds?.[0] ?? '0')
    return kept?.count ?? 0
  }
  const { segment, equals, ...rest } = filter
  const [condition, second] = [segment, equals].filter((one) => one !== undefined)
  const isAlone = second === undefined && Object.values(rest).every((value) => value === undefined)
  if (condition && isAlone) return countSegment(db, caller.accountId, condition)
  return (await countContacts(db, caller.accountId, filter)).count
}

// Also without quotes: the provider shows equals(B1, true).
const equalsForm = /^equals\(\s*([A-Za-z0-9_-]+)\s*,\s*(?:"(.*)"|([^"'].*?))\s*\)$/s

async function readEquals(ctx: Ctx, text: string): Promise<ContactFilter['equals']> {
  const [, name, quoted, bare = ''] = equalsForm.exec(text.trim()) ?? []
  if (name === undefined)
    throw invalidParameter({ message: 'filter must be equals(ATTRIBUTE,"value")', param: 'filter' })
  const attributes = [...ownAttributes, ...(await listAttributes(ctx.db, ctx.caller.accountId))]
  const attribute = attributes.find((one) => one.name === name.toUpperCase())
  if (!attribute)
    throw invalidParameter({ message: `There is no attribute ${name}, which filter names`, param: 'filter' })
  const read = readValue(attribute, quoted ?? bare)
  if ('fault' in read || read.value === null)
    throw invalidParameter({ message: `filter has a value that ${name} cannot have`, param: 'filter' })
  // Of several choices all that are named, whatever else was chosen.
  const operator = Array.isArray(read.value) ? 'contains' : 'eq'
  return { attribute: attribute.name, operator, value: inColumnForm(attribute.name, read.value) }
}
