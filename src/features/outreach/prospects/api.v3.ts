import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { answer, operation } from '../../../kernel/operation.ts'
import {
  confirmationRequired,
  invalidParameter,
  missingParameter,
  notFound,
} from '../../../kernel/refusals.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { Confirmation, given, optional } from '../../../kernel/v3/lenient.ts'
import { listQuery, ownLimits, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { Id, idParams, moduleDisabled, reading, requireModule, writing } from '../module.ts'
import {
  countProspects,
  deleteProspects,
  findProspect,
  listProspects,
  type ProspectRow,
  updateProspects,
} from './queries.ts'
import {
  mostAtOnce,
  ProspectEntry,
  prospectFields,
  readEntry,
  readOneProspect,
  saveProspects,
} from './write-prospects.ts'

const Prospect = closed({
  id: Type.Integer(),
  email: Type.String(),
  firstName: Type.String(),
  lastName: Type.String(),
  company: Type.String(),
  attributes: Type.Record(Type.String(), Type.Unknown()),
  source: Type.String(),
  createdAt: Time,
  modifiedAt: Time,
})

function show(found: ProspectRow): Static<typeof Prospect> {
  return {
    id: Number(found.id),
    email: found.email,
    firstName: found.first_name,
    lastName: found.last_name,
    company: found.company,
    attributes: found.attributes,
    source: found.source,
    createdAt: found.created_at.toISOString(),
    modifiedAt: found.modified_at.toISOString(),
  }
}

export const listProspectsV3 = operation({
  ...reading,
  name: 'prospect.list',
  http: 'GET /v3/outreach/prospects',
  summary: 'List prospects, newest first',
  query: closed({
    ...listQuery,
    email: Type.Optional(Type.String({ maxLength: 320, description: 'Exactly this address, any case' })),
    company: Type.Optional(Type.String({ maxLength: 255, description: 'Exactly this company, any case' })),
  }),
  reply: closed({
    count: Type.Integer(),
    prospects: Type.Array(Prospect),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [moduleDisabled, outOfRange],
}).run(async (ctx, { query }) => {
  await requireModule(ctx)
  const { accountId } = ctx.caller
  const email = given(query.email)
  const filter = {
    // What is no address is nobody's.
    email: email === undefined ? undefined : (normalEmail(email) ?? ''),
    company: given(query.company)?.replaceAll('\0', ''),
  }
  const list = { name: 'v3.prospects', filter, ...ownLimits }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listProspects(ctx.db, accountId, filter, slice),
  )
  const { count } = await countProspects(ctx.db, accountId, filter)
  return { count, prospects: rows.map(show), next_cursor: nextCursor }
})

const Result = closed({
  email: Type.String(),
  id: Type.Optional(Type.Integer()),
  outcome: words(['created', 'updated', 'skipped']),
  reason: Type.Optional(Type.String()),
})

export const createProspectsV3 = operation({
  ...writing,
  name: 'prospect.create',
  http: 'POST /v3/outreach/prospects',
  summary: 'Add a prospect, or up to 1000',
  description:
    'An address that is known already is updated: what is given replaces what there was, attributes are added to. ' +
    'Of many, those that cannot be read are skipped, each with its reason; the others are kept.',
  perMinute: 60,
  maxBodyBytes: 5 * 1024 * 1024,
  body: closed({ ...prospectFields, prospects: optional(Type.Array(ProspectEntry)) }),
  status: [201, 200],
  reply: Type.Union([
    closed({ id: Type.Integer() }),
    closed({
      created: Type.Integer(),
      updated: Type.Integer(),
      skipped: Type.Integer(),
      results: Type.Array(Result, { description: 'In the order in which they were given' }),
    }),
  ]),
  refusals: [moduleDisabled],
}).run(async (ctx, { body }) => {
  await requireModule(ctx)
  if (body.prospects) {
    refuseBeside(body)
    return saveMany(ctx, body.prospects)
  }
  const read = readOneProspect(body)
  const saved = (await saveProspects(ctx, [read])).get(read.email)
  if (!saved) throw new Error('a prospect just written is not there')
  return answer(saved.outcome === 'created' ? 201 : 200, { id: saved.id })
})

/** Of one prospect and many only the many would be kept. */
function refuseBeside(body: Record<string, unknown>): void {
  const param = Object.keys(prospectFields).find(
    (name) => ![undefined, null, ''].includes(body[name] as null),
  )
  if (param === undefined) return
  throw invalidParameter({ message: `${param} cannot stand beside prospects: give one of both`, param })
}

async function saveMany(ctx: Ctx, prospects: unknown[]) {
  if (prospects.length === 0) throw missingParameter({ message: 'prospects is empty', param: 'prospects' })
  if (prospects.length > mostAtOnce)
    throw invalidParameter({
      message: `prospects must have at most ${mostAtOnce} entries`,
      param: 'prospects',
    })
  const read = prospects.map(readEntry)
  const saved = await saveProspects(
    ctx,
    read.flatMap((one) => (typeof one === 'string' ? [] : one)),
  )
  const seen = new Set<string>()
  const results: Static<typeof Result>[] = read.map((one, i) => {
    if (typeof one === 'string') return { email: emailIn(prospects[i]), outcome: 'skipped', reason: one }
    const { email } = one
    const kept = saved.get(email)
    if (!kept) return { email, outcome: 'skipped', reason: 'it was deleted meanwhile' }
    const isAgain = seen.has(email)
    seen.add(email)
    return isAgain ? { ...kept, outcome: 'updated' } : kept
  })
  const count = (outcome: string) => results.filter((one) => one.outcome === outcome).length
  const counts = { created: count('created'), updated: count('updated'), skipped: count('skipped') }
  return answer(counts.created > 0 ? 201 : 200, { ...counts, results })
}

function emailIn(entry: unknown): string {
  const email = entry !== null && typeof entry === 'object' && 'email' in entry ? entry.email : ''
  return typeof email === 'string' ? email : ''
}

const mostDeleted = 10_000

export const deleteProspectsV3 = operation({
  ...writing,
  name: 'prospect.delete_many',
  http: 'DELETE /v3/outreach/prospects',
  needs: ['confirm'],
  summary: 'Delete prospects by number or address; their sequences stop',
  effect: 'irreversible',
  body: closed({
    ids: optional(Type.Array(Id)),
    emails: optional(Type.Array(Type.String({ maxLength: 320 }))),
    confirm: Confirmation,
  }),
  reply: closed({ deleted: Type.Integer() }),
  refusals: [moduleDisabled, confirmationRequired],
}).run(async (ctx, { body }) => {
  await requireModule(ctx)
  const { confirm } = body
  const named = { ids: body.ids ?? [], emails: body.emails ?? [] }
  const count = named.ids.length + named.emails.length
  if (count === 0) throw missingParameter({ message: 'ids or emails is missing', param: 'ids' })
  if (count > mostDeleted)
    throw invalidParameter({
      message: `At most ${mostDeleted} prospects can be deleted at once`,
      param: 'ids',
    })
  if (confirm !== true) throw confirmationRequired()
  const emails = named.emails.flatMap((one) => normalEmail(one) ?? [])
  return { deleted: await deleteProspects(ctx.db, ctx.caller.accountId, { ids: named.ids, emails }) }
})

async function findOne(ctx: Ctx, id: number): Promise<ProspectRow> {
  await requireModule(ctx)
  const found = await findProspect(ctx.db, ctx.caller.accountId, id)
  if (found) return found
  throw notFound({ message: 'Prospect ID does not exist', param: 'id' })
}

export const getProspectV3 = operation({
  ...reading,
  name: 'prospect.get',
  http: 'GET /v3/outreach/prospects/{id}',
  summary: 'Read a prospect',
  params: idParams,
  reply: Prospect,
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id } }) => show(await findOne(ctx, id)))

export const updateProspectV3 = operation({
  ...writing,
  name: 'prospect.update',
  http: 'PUT /v3/outreach/prospects/{id}',
  summary: 'Change a prospect; attributes are added to',
  params: idParams,
  body: closed(prospectFields),
  status: 204,
  reply: Type.Null(),
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id }, body }) => {
  const { email } = await findOne(ctx, id)
  const wanted = given(body.email)
  if (wanted !== undefined && normalEmail(wanted) !== email)
    throw invalidParameter({ message: 'email cannot be changed: add another prospect', param: 'email' })
  await updateProspects(ctx.db, ctx.caller.accountId, [readOneProspect({ ...body, email })], ctx.now)
  return null
})

export const deleteProspectV3 = operation({
  ...writing,
  name: 'prospect.delete',
  http: 'DELETE /v3/outreach/prospects/{id}',
  summary: 'Delete a prospect; its sequences stop',
  effect: 'irreversible',
  params: idParams,
  status: 204,
  reply: Type.Null(),
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id } }) => {
  await findOne(ctx, id)
  await deleteProspects(ctx.db, ctx.caller.accountId, { ids: [id] })
  return null
})
