// Takes an export on: what is asked is checked, and the answer does not wait for the work.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { closed, words } from '../../../kernel/schema.ts'
import { optional } from '../../../kernel/v3/lenient.ts'
import { readUrl } from '../../../kernel/v3/url.ts'
import { listAttributes } from '../attributes/queries.ts'
import { holdLists } from '../lists/queries.ts'
import { readSegment } from '../segments/write-segment.ts'
import { allColumns, isOwnColumn, ownColumns } from './csv.ts'
import { type ExportFilter, insertExport } from './queries.ts'

const actions = ['allContacts', 'subscribed', 'unsubscribed', 'unsubscribedPerList'] as const
const Id = optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))
const refused = optional(Type.Unknown({ description: 'Refused: exports are by contact, list or segment' }))

const Filter = closed({
  actionForContacts: optional(words(actions, { description: 'allContacts when absent' })),
  listId: Id,
  segmentId: Id,
  actionForEmailCampaigns: refused,
  actionForSmsCampaigns: refused,
  emailCampaignId: refused,
  smsCampaignId: refused,
})

export const ExportBody = closed({
  customContactFilter: optional(Filter),
  exportAttributes: optional(
    Type.Array(Type.String({ maxLength: 100 }), { maxItems: 500, description: 'All when absent or empty' }),
  ),
  exportMandatoryAttributes: optional(
    Type.Boolean({ description: 'With exportAttributes: ADDED_TIME and MODIFIED_TIME as well' }),
  ),
  disableNotification: optional(Type.Boolean()),
  notifyUrl: Type.Optional(Type.String({ maxLength: 2_048 })),
})
export type ExportBody = Static<typeof ExportBody>

export async function startExport(ctx: Ctx, body: ExportBody): Promise<number> {
  const filter = await readFilter(ctx, body.customContactFilter)
  const settings = {
    ...(await readColumns(ctx, body)),
    filter,
    notifyUrl: readUrl(body.notifyUrl, 'notifyUrl'),
  }
  const asked = { name: 'EXPORTUSER', settings } as const
  return Number((await insertExport(ctx.db, ctx.caller.accountId, asked, ctx.now)).id)
}

const times = ['ADDED_TIME', 'MODIFIED_TIME']

type Given = Static<typeof Filter> | null | undefined

async function readFilter(ctx: Ctx, given: Given): Promise<ExportFilter> {
  if (!given)
    throw missingParameter({ message: 'customContactFilter is missing', param: 'customContactFilter' })
  refuseCampaigns(given)
  const action = given.actionForContacts ?? 'allContacts'
  const listId = await readList(ctx, given.listId)
  const segmentId = given.segmentId ?? undefined
  if (segmentId !== undefined && listId !== undefined)
    throw invalidParameter({ message: 'Only one of listId and segmentId can be given', param: 'segmentId' })
  if (segmentId !== undefined) await readSegment(ctx, segmentId)
  if (action === 'unsubscribedPerList') {
    if (listId !== undefined) return { leftListId: listId }
    throw missingParameter({ message: 'unsubscribedPerList needs listId', param: 'listId' })
  }
  return { listId, segmentId, ...(action === 'allContacts' ? {} : { status: action }) }
}

const campaignFields = [
  'actionForEmailCampaigns',
  'actionForSmsCampaigns',
  'emailCampaignId',
  'smsCampaignId',
] as const

function refuseCampaigns(given: NonNullable<Given>): void {
  const param = campaignFields.find((name) => given[name] != null && given[name] !== '')
  if (param === undefined) return
  const message = `${param} is not supported: contacts are exported by actionForContacts, listId or segmentId`
  throw invalidParameter({ message, param })
}

async function readList({ db, caller }: Ctx, id: number | null | undefined): Promise<string | undefined> {
  if (typeof id !== 'number') return undefined
  const [list] = await holdLists(db, caller.accountId, [String(id)])
  if (list) return list.id
  throw invalidParameter({ message: `List ID ${id} does not exist`, param: 'listId' })
}

/** The address is always there: without it nobody could find a person in the file. */
async function readColumns(ctx: Ctx, body: ExportBody): Promise<{ columns: string[]; attributes: string[] }> {
  const known = await attributeColumns(ctx)
  const attributes = known.filter(isOwnColumn)
  const asked = (body.exportAttributes ?? []).map((name) => name.trim().toUpperCase())
  if (asked.length === 0) return { columns: allColumns(known), attributes }
  const columns = [
    ...new Set(['EMAIL', ...asked, ...(body.exportMandatoryAttributes ? ownColumns(times, known) : [])]),
  ]
  const unknown = columns.find((name) => !isOwnColumn(name) && !known.includes(name))
  if (unknown === undefined) return { columns, attributes }
  const message = `exportAttributes names ${JSON.stringify(unknown)}, which is no attribute`
  throw invalidParameter({ message, param: 'exportAttributes' })
}

/** The attributes that each contact has a value of its own for. */
export async function attributeColumns({ db, caller }: Ctx): Promise<string[]> {
  const attributes = await listAttributes(db, caller.accountId)
  return attributes.filter(({ category }) => category !== 'global').map(({ name }) => name)
}
