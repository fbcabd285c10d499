// A list as a whole: contacts have it, campaigns know what was sent to it.
import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed } from '../../kernel/schema.ts'
import { rangeQuery, readRange } from '../../kernel/v3/dates.ts'
import { outOfRange } from '../../kernel/v3/refusals.ts'
import { showWhole, WholeList } from '../contacts/lists/show-list.ts'
import { readList } from '../contacts/lists/write-list.ts'
import { Figures, statisticsOfList } from './statistics.ts'

const mostDays = 730

export const getListV3 = operation({
  area: 'Contacts',
  scope: 'contacts.read',
  effect: 'read',
  name: 'list.get',
  http: 'GET /v3/contacts/lists/{id}',
  summary: 'Read a contact list, with what became of the campaigns sent to it',
  params: closed({ id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }),
  query: closed(rangeQuery),
  reply: closed({
    ...WholeList.properties,
    campaignStats: Type.Array(closed({ campaignId: Type.Integer(), stats: Figures })),
  }),
  refusals: [notFound, outOfRange],
}).run(async (ctx, { params: { id }, query }) => {
  const range = readRange(query, mostDays)
  const list = showWhole(await readList(ctx, id))
  return { ...list, campaignStats: await statisticsOfList(ctx, String(id), range) }
})
