import { type Static, Type } from 'typebox'
import { type Operation, operation } from '../../../kernel/operation.ts'
import { refusal } from '../../../kernel/refusal.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { listQuery, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { exportUrl } from '../export/read-file.ts'
import { countProcesses, findProcess, listProcesses, type ProcessRow } from './queries.ts'

const Text = Type.String()
const Count = Type.Integer()

// The provider puts addresses of files here; what they would say stands in faultyRows.
const noFiles = {
  invalid_emails: null,
  duplicate_contact_id: null,
  duplicate_ext_id: null,
  duplicate_email_id: null,
  duplicate_phone_id: null,
  duplicate_whatsapp_id: null,
  duplicate_landline_number_id: null,
}

const Import = closed({
  total: Count,
  created: Count,
  updated: Count,
  faulty: Count,
  skipped: Type.Integer({ description: 'Known already, with updateExistingContacts false' }),
  keptOut: Type.Integer({ description: 'Left a list by own choice and gave no consent since' }),
  faultyRows: Type.Array(closed({ line: Type.Integer(), email: Text, reason: Text }), {
    description: 'The first 100; the heading of a file is line 1, entries of jsonBody count from 1',
  }),
  ignoredColumns: Type.Array(Text, {
    description: 'The first 50 columns that were not kept: the account has no such attribute',
  }),
  invalid_emails: orNull(Text),
  duplicate_contact_id: orNull(Text),
  duplicate_ext_id: orNull(Text),
  duplicate_email_id: orNull(Text),
  duplicate_phone_id: orNull(Text),
  duplicate_whatsapp_id: orNull(Text),
  duplicate_landline_number_id: orNull(Text),
})

const Process = closed({
  id: Type.Integer(),
  name: Text,
  status: words(['queued', 'processing', 'completed', 'failed']),
  info: closed({ import: Type.Optional(Import), export: Type.Optional(closed({ total: Count })) }),
  export_url: Type.Optional(
    Type.String({ description: 'Of an export: the file, for 7 days, to whoever knows this address' }),
  ),
  created_at: Time,
  completed_at: orNull(Time),
  error: Type.Optional(Text),
})

function importOf(found: ProcessRow): Static<typeof Import> {
  const { total, created, updated, faulty, skipped } = found
  const { kept_out: keptOut, faulty_rows: faultyRows, ignored_columns: ignoredColumns } = found
  return { total, created, updated, faulty, skipped, keptOut, faultyRows, ignoredColumns, ...noFiles }
}

// The words that the provider's clients know.
const shownNames: Record<string, string> = {
  EXPORTUSER: 'CONTACT_EXPORT',
  EXPORTRECIPIENTS: 'CAMPAIGN_PROCESSING',
}

function infoOf(found: ProcessRow): Static<typeof Process>['info'] {
  if (found.name === 'IMPORTUSER') return { import: importOf(found) }
  return found.name === 'REMOVECONTACTS' ? {} : { export: { total: found.total } }
}

function show(found: ProcessRow, baseUrl: string): Static<typeof Process> {
  const { name, file_token: token } = found
  return {
    id: Number(found.id),
    name: shownNames[name] ?? name,
    status: found.status,
    info: infoOf(found),
    ...(token === null ? {} : { export_url: exportUrl(baseUrl, token) }),
    created_at: found.created_at.toISOString(),
    completed_at: found.completed_at?.toISOString() ?? null,
    ...(found.error === null ? {} : { error: found.error }),
  }
}

export const processNotFound = refusal({
  code: 'not_found',
  kind: 'not_found',
  message: 'Process not found',
  v3: { code: 'invalid_parameter' },
})

const shared = { area: 'Contacts', scope: 'contacts.read', effect: 'read' } as const

export const listProcessesV3 = (baseUrl: string): Operation =>
  operation({
    ...shared,
    name: 'process.list',
    http: 'GET /v3/processes',
    summary: 'List background processes, newest first',
    query: closed(listQuery),
    reply: closed({ count: Count, processes: Type.Array(Process), next_cursor: orNull(Text) }),
    refusals: [outOfRange],
  }).run(async (ctx, { query }) => {
    const { accountId } = ctx.caller
    const list = { name: 'v3.processes', filter: {}, usual: 10, most: 50 }
    const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
      listProcesses(ctx.db, accountId, slice),
    )
    const { count } = await countProcesses(ctx.db, accountId)
    return { count, processes: rows.map((one) => show(one, baseUrl)), next_cursor: nextCursor }
  })

export const getProcessV3 = (baseUrl: string): Operation =>
  operation({
    ...shared,
    name: 'process.get',
    http: 'GET /v3/processes/{processId}',
    summary: 'How far a background process is, and what came of it',
    params: closed({ processId: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }),
    reply: Process,
    refusals: [processNotFound],
  }).run(async (ctx, { params: { processId } }) => {
    const found = await findProcess(ctx.db, ctx.caller.accountId, processId)
    if (!found) throw processNotFound()
    return show(found, baseUrl)
  })
