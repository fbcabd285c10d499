import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { answer, operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, Time } from '../../../kernel/schema.ts'
import { listQuery } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { erasedStays } from '../../suppressions/suppressions.ts'
import { ContactBody } from './contact-body.ts'
import { contactExists } from './contact-exists.ts'
import { pageOfContacts } from './list-contacts.ts'
import type { ContactRef } from './queries.ts'
import { findAnyRef, IdentifierType, readContact, readRef } from './read-ref.ts'
import { Contact, showContacts } from './show-contact.ts'
import { ContactStatistics, readStatisticsRange, statisticsOf, statisticsQuery } from './statistics.ts'
import { changeTags, pageOfChanges, TagsBody } from './trail.ts'
import { changeContact, createContact, removeContact, resubscribe } from './write-contact.ts'

const shared = { area: 'Contacts' } as const
const reads = { ...shared, scope: 'contacts.read', effect: 'read' } as const
const writes = { ...shared, scope: 'contacts.write', effect: 'change' } as const
const params = closed({ identifier: Type.String({ maxLength: 320 }) })
const typeQuery = closed({ identifierType: Type.Optional(IdentifierType) })
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const secret = ['consent_ip', 'consent_text']

async function shown(ctx: Ctx, ref: ContactRef): Promise<Static<typeof Contact>> {
  const [contact] = await showContacts(ctx, [await readContact(ctx, ref)])
  return contact as Static<typeof Contact>
}

export const listContactsV3 = operation({
  ...reads,
  name: 'contact.list',
  http: 'GET /v3/contacts',
  summary: 'List contacts, newest first',
  query: closed({
    modifiedSince: Type.Optional(Type.String({ maxLength: 40 })),
    createdSince: Type.Optional(Type.String({ maxLength: 40 })),
    ids: Type.Optional(Type.Array(Id, { maxItems: 20 })),
    listIds: Type.Optional(Type.Array(Id, { maxItems: 50 })),
    segmentId: Type.Optional(Id),
    filter: Type.Optional(Type.String({ maxLength: 500, description: 'equals(ATTRIBUTE,"value")' })),
    ...listQuery,
  }),
  reply: closed({
    count: Type.Integer(),
    contacts: Type.Array(Contact),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [outOfRange, notFound],
}).run(async (ctx, { query }) => {
  const { count, rows, nextCursor } = await pageOfContacts(ctx, query)
  return { count, contacts: await showContacts(ctx, rows), next_cursor: nextCursor }
})

export const createContactV3 = operation({
  ...writes,
  name: 'contact.create',
  http: 'POST /v3/contacts',
  summary: 'Create a contact, or change it with updateEnabled',
  body: ContactBody,
  secret,
  status: [201, 204, 200],
  reply: orNull(closed({ id: Type.Integer() })),
  refusals: [contactExists, erasedStays],
}).run(async (ctx, { body }) => {
  const { id, isNew } = await createContact(ctx, body)
  if (isNew) return { id }
  return body.getId ? answer(200, { id }) : answer(204, null)
})

export const getContactV3 = operation({
  ...reads,
  name: 'contact.get',
  http: 'GET /v3/contacts/{identifier}',
  summary: 'Read a contact',
  params,
  query: closed({ ...typeQuery.properties, ...statisticsQuery }),
  reply: closed({ ...Contact.properties, statistics: ContactStatistics }),
  refusals: [notFound, outOfRange],
}).run(async (ctx, { params: { identifier }, query }) => {
  const range = readStatisticsRange(ctx, query)
  const contact = await shown(ctx, await findAnyRef(ctx, identifier, query.identifierType))
  return { ...contact, statistics: await statisticsOf(ctx, String(contact.id), range) }
})

export const updateContactV3 = operation({
  ...writes,
  name: 'contact.update',
  http: 'PUT /v3/contacts/{identifier}',
  summary: 'Change a contact',
  params,
  query: typeQuery,
  body: ContactBody,
  secret,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound, contactExists, erasedStays],
}).run(async (ctx, { params: { identifier }, query, body }) => {
  await changeContact(ctx, readRef(identifier, query.identifierType), body)
  return null
})

export const deleteContactV3 = operation({
  ...writes,
  name: 'contact.delete',
  http: 'DELETE /v3/contacts/{identifier}',
  summary: 'Delete a contact',
  effect: 'irreversible',
  params,
  query: typeQuery,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { identifier }, query }) => {
  await removeContact(ctx, readRef(identifier, query.identifierType))
  return null
})

export const resubscribeContactV3 = operation({
  ...writes,
  name: 'contact.resubscribe',
  http: 'POST /v3/contacts/{identifier}/resubscribe',
  summary: 'Set a contact to subscribed and take its address off the suppression list',
  params,
  reply: Contact,
  refusals: [notFound, erasedStays],
}).run(async (ctx, { params: { identifier } }) => {
  const ref = readRef(identifier)
  await resubscribe(ctx, ref)
  return shown(ctx, ref)
})

const Tags = closed({ tags: Type.Array(Type.String()) })

export const addTagsV3 = operation({
  ...writes,
  name: 'contact.tag',
  http: 'POST /v3/contacts/{identifier}/tags',
  summary: 'Add tags to a contact; unknown ones are created',
  params,
  body: TagsBody,
  reply: Tags,
  refusals: [notFound],
}).run((ctx, { params: { identifier }, body }) => changeTags(ctx, readRef(identifier), body, 'add'))

export const removeTagsV3 = operation({
  ...writes,
  name: 'contact.untag',
  http: 'DELETE /v3/contacts/{identifier}/tags',
  summary: 'Take tags off a contact',
  params,
  body: TagsBody,
  reply: Tags,
  refusals: [notFound],
}).run((ctx, { params: { identifier }, body }) => changeTags(ctx, readRef(identifier), body, 'remove'))

export const contactHistoryV3 = operation({
  ...reads,
  name: 'contact.history',
  http: 'GET /v3/contacts/{id}/history',
  summary: 'What changed about a contact, newest first',
  params: closed({ id: Type.String({ maxLength: 320, description: 'The number or the address' }) }),
  query: closed({
    limit: Type.Optional(Type.Integer({ description: '1 to 200' })),
    offset: listQuery.offset,
    cursor: listQuery.cursor,
  }),
  reply: closed({
    count: Type.Integer(),
    history: Type.Array(
      closed({
        attribute: Type.String(),
        oldValue: Type.Unknown(),
        newValue: Type.Unknown(),
        changedAt: Time,
        source: Type.String(),
      }),
    ),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [notFound, outOfRange],
}).run((ctx, { params: { id }, query }) => pageOfChanges(ctx, readRef(id), query))

export const contactCampaignStatsV3 = operation({
  ...reads,
  name: 'contact.campaign_stats',
  http: 'GET /v3/contacts/{identifier}/campaignStats',
  summary: 'What campaigns did with a contact',
  params,
  query: closed({ ...typeQuery.properties, ...statisticsQuery }),
  reply: ContactStatistics,
  refusals: [notFound, outOfRange],
}).run(async (ctx, { params: { identifier }, query }) => {
  const range = readStatisticsRange(ctx, query)
  const { id } = await readContact(ctx, readRef(identifier, query.identifierType))
  return statisticsOf(ctx, id, range)
})
