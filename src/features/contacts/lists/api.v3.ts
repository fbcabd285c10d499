import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull } from '../../../kernel/schema.ts'
import { readSince } from '../../../kernel/v3/dates.ts'
import { countedPage, listQuery } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { Contact, showContacts } from '../contacts/show-contact.ts'
import { AddBody, addContacts, RemoveBody, removeContacts } from './change-members.ts'
import { countModifiedMembers, listMembers } from './member-queries.ts'
import { listPage, pageOfLists } from './show-list.ts'
import { changeList, createList, ListBody, readList, removeList } from './write-list.ts'

const read = { area: 'Contacts', scope: 'contacts.read', effect: 'read' } as const
const write = { area: 'Contacts', scope: 'contacts.write', effect: 'change' } as const
// What no identifier can be reaches no statement.
const params = closed({ id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })

export const listListsV3 = operation({
  ...read,
  name: 'list.list',
  http: 'GET /v3/contacts/lists',
  summary: 'List contact lists, newest first',
  query: closed(listQuery),
  reply: listPage,
  refusals: [outOfRange],
}).run((ctx, { query }) => pageOfLists(ctx, query, {}))

export const createListV3 = operation({
  ...write,
  name: 'list.create',
  http: 'POST /v3/contacts/lists',
  needs: ['name'],
  summary: 'Create a contact list, in a folder or in none',
  body: ListBody,
  status: 201,
  reply: closed({ id: Type.Integer() }),
  refusals: [notFound],
}).run(async (ctx, { body }) => ({ id: await createList(ctx, body) }))

export const updateListV3 = operation({
  ...write,
  name: 'list.update',
  http: 'PUT /v3/contacts/lists/{id}',
  summary: 'Rename a contact list, or put it into another folder',
  params,
  body: ListBody,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { id }, body }) => {
  await changeList(ctx, id, body)
  return null
})

export const deleteListV3 = operation({
  ...write,
  name: 'list.delete',
  http: 'DELETE /v3/contacts/lists/{id}',
  summary: 'Delete a contact list; its contacts stay',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { id } }) => {
  await removeList(ctx, id)
  return null
})

export const listListContactsV3 = operation({
  ...read,
  name: 'list.contacts',
  http: 'GET /v3/contacts/lists/{id}/contacts',
  summary: 'List the contacts of a list, newest first',
  params,
  query: closed({
    modifiedSince: Type.Optional(
      Type.String({ maxLength: 40, description: 'Only contacts changed at or after this time' }),
    ),
    ...listQuery,
  }),
  reply: closed({ contacts: Type.Array(Contact), count: Type.Integer(), next_cursor: orNull(Type.String()) }),
  refusals: [notFound, outOfRange],
}).run(async (ctx, { params: { id }, query }) => {
  const since = readSince(query.modifiedSince, 'modifiedSince')
  const found = await readList(ctx, id)
  const of = { accountId: ctx.caller.accountId, listId: found.id }
  const list = { name: 'v3.list.contacts', filter: { id, since: since?.getTime() }, usual: 50, most: 500 }
  const { rows, nextCursor, count } = await countedPage(ctx, query, list, {
    fetch: (slice) => listMembers(ctx.db, of, since, slice),
    count: async () => (since ? (await countModifiedMembers(ctx.db, of, since)).count : found.subscribers),
  })
  return { contacts: await showContacts(ctx, rows), count, next_cursor: nextCursor }
})

const Named = Type.Array(Type.Union([Type.String(), Type.Integer()]))

export const addToListV3 = operation({
  ...write,
  name: 'list.add',
  http: 'POST /v3/contacts/lists/{id}/contacts/add',
  summary: 'Put up to 150 contacts on a list',
  params,
  body: AddBody,
  status: 201,
  reply: closed({ contacts: closed({ success: Named, failure: Named }) }),
  refusals: [notFound],
}).run(async (ctx, { params: { id }, body }) => ({ contacts: await addContacts(ctx, id, body) }))

export const removeFromListV3 = operation({
  ...write,
  name: 'list.remove',
  http: 'POST /v3/contacts/lists/{id}/contacts/remove',
  summary: 'Take up to 150 contacts, or all, off a list',
  params,
  body: RemoveBody,
  status: 201,
  reply: closed({
    contacts: closed({
      success: Type.Optional(Named),
      failure: Type.Optional(Named),
      total: Type.Optional(Type.Integer({ description: 'With all: how many there were' })),
      processId: Type.Optional(Type.Integer({ description: 'With all: it is completed already' })),
    }),
  }),
  refusals: [notFound],
}).run(async (ctx, { params: { id }, body }) => ({ contacts: await removeContacts(ctx, id, body) }))
