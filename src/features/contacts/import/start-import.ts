// Takes an import on: what is asked is checked, the rows are stored, and the answer does not wait for the work.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, optional } from '../../../kernel/v3/lenient.ts'
import { readUrl } from '../../../kernel/v3/url.ts'
import { holdLists } from '../lists/queries.ts'
import { createList } from '../lists/write-list.ts'
import { rowsOfCsv, rowsOfJson } from './given-rows.ts'
import { insertProcess } from './process-queries.ts'
import { storeRows } from './store-rows.ts'

const ListId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const No = Type.Optional(Type.Boolean({ description: 'false when absent' }))
const Url = Type.Optional(Type.String({ maxLength: 2_048 }))
const anything = (description: string) => Type.Optional(Type.Unknown({ description }))

// Open: fields that are refused in bulk must be seen, not dropped. What a field holds is checked row by row.
const entryFields = {
  email: anything('The address'),
  ext_id: anything('The identifier that the caller knows the contact by'),
  attributes: anything('Values by attribute name; SMS is the telephone number'),
  consentDate: anything('ISO 8601 or d/m/Y'),
  consentSource: anything('Where the consent was given'),
}
// An entry that is no object at all is a faulty row as well.
const Entry = Type.Unsafe<unknown>({ properties: entryFields })

export const ImportBody = closed({
  fileBody: Type.Optional(
    Type.String({ description: 'CSV, separated by ; or , with a heading line that names EMAIL' }),
  ),
  fileUrl: Url,
  jsonBody: optional(Type.Array(Entry)),
  listIds: optional(Type.Array(ListId, { maxItems: 100 })),
  newList: optional(
    closed({ listName: Type.Optional(Type.String({ maxLength: 255 })), folderId: optional(ListId) }),
  ),
  emailBlacklist: No,
  smsBlacklist: No,
  updateExistingContacts: optional(Type.Boolean({ description: 'true when absent' })),
  emptyContactsAttributes: Type.Optional(
    Type.Boolean({ description: 'Blank cells erase; false when absent' }),
  ),
  disableNotification: No,
  notifyUrl: Url,
  consent_ip: anything('Refused: single contacts only'),
  consent_text: anything('Refused: single contacts only'),
})

export type ImportBody = Static<typeof ImportBody>

export async function startImport(ctx: Ctx, body: ImportBody): Promise<number> {
  const { db, now: at } = ctx
  const { accountId, mode } = ctx.caller
  refuseFullConsent(body)
  const { rows, fileUrl } = readSource(body)
  const settings = {
    listIds: await readLists(ctx, body),
    emailBlacklist: body.emailBlacklist ?? false,
    smsBlacklist: body.smsBlacklist ?? false,
    updateExisting: body.updateExistingContacts ?? true,
    emptyAttributes: body.emptyContactsAttributes ?? false,
    notifyUrl: readUrl(body.notifyUrl, 'notifyUrl'),
    isTest: mode === 'test',
  }
  const { id } = await insertProcess(db, { accountId, settings, fileUrl, at })
  if (rows) await storeRows(db, { accountId, id }, rows, at)
  return Number(id)
}

function refuseFullConsent(body: ImportBody): void {
  const param = (['consent_ip', 'consent_text'] as const).find((name) => body[name] != null)
  if (param === undefined) return
  throw invalidParameter({
    message:
      `${param} is not taken in bulk: a full record of consent is made with ` +
      'POST /v3/contacts or PUT /v3/contacts/{identifier}, one contact at a time.',
    param,
  })
}

function readSource(body: ImportBody) {
  const [text, fileUrl] = [given(body.fileBody), readUrl(body.fileUrl, 'fileUrl')]
  const entries = body.jsonBody ?? undefined
  const count = [text, fileUrl ?? undefined, entries].filter((one) => one !== undefined).length
  if (count === 0) throw missingParameter({ message: 'Either of fileUrl, fileBody or jsonBody is required' })
  if (count > 1)
    throw invalidParameter({ message: 'Only one of fileUrl, fileBody and jsonBody can be given' })
  if (entries?.length === 0) throw invalidParameter({ message: 'jsonBody is empty', param: 'jsonBody' })
  if (text !== undefined) return { rows: rowsOfCsv(text), fileUrl: null }
  return { rows: entries && rowsOfJson(entries), fileUrl }
}

async function readLists(ctx: Ctx, { listIds, newList }: ImportBody): Promise<string[]> {
  const wanted = [...new Set(listIds ?? [])].map(String)
  if (newList) {
    const { listName: name, folderId } = newList
    if (wanted.length === 0) return [String(await createList(ctx, { name, folderId }))]
    throw invalidParameter({ message: 'Only one of listIds and newList can be given', param: 'newList' })
  }
  if (wanted.length === 0) return []
  const found = new Set((await holdLists(ctx.db, ctx.caller.accountId, wanted)).map(({ id }) => id))
  const unknown = wanted.filter((id) => !found.has(id))
  if (unknown.length === 0) return wanted
  throw invalidParameter({ message: `List ID does not exist: ${unknown.join(', ')}`, param: 'listIds' })
}
