// Putting contacts on a list and taking them off, by addresses, numbers or the customer's own identifiers.
import { type Static, type TSchema, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { optional } from '../../../kernel/v3/lenient.ts'
import { insertDone } from '../processes/queries.ts'
import {
  addMembers,
  holdContacts,
  type Kind,
  removeAllMembers,
  removeMembers,
  touchContacts,
} from './member-queries.ts'
import { holdLists } from './queries.ts'
import { listUnknown } from './write-list.ts'

const upTo150 = <S extends TSchema>(entry: S) => optional(Type.Array(entry, { maxItems: 150 }))

const named = {
  emails: upTo150(Type.String()),
  ids: upTo150(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  extIds: upTo150(Type.String()),
}

export const AddBody = closed(named)
export const RemoveBody = closed({
  ...named,
  all: Type.Optional(Type.Boolean({ description: 'true: everybody' })),
})

type Entries = { kind: Kind; given: (string | number)[] }
type Sorted = { success: (string | number)[]; failure: (string | number)[] }

const kinds = ['emails', 'ids', 'extIds'] as const

export async function addContacts(ctx: Ctx, id: number, body: Static<typeof AddBody>): Promise<Sorted> {
  const entries = readEntries(body)
  const { accountId, mode } = ctx.caller
  const onto = { accountId, listId: await hold(ctx, id), mode }
  const sorted = await sortEntries(ctx, entries, (ids) => addMembers(ctx.db, onto, ids, ctx.now))
  if (sorted.success.length > 0) return sorted
  throw invalidParameter({ message: 'Contact already in list and/or does not exist', param: entries.kind })
}

type Removed = Partial<Sorted> & { total?: number; processId?: number }

export async function removeContacts(
  ctx: Ctx,
  id: number,
  body: Static<typeof RemoveBody>,
): Promise<Removed> {
  const entries = body.all ? undefined : readEntries(body)
  if (body.all) refuseNames(body)
  const of = { accountId: ctx.caller.accountId, listId: await hold(ctx, id) }
  if (!entries) return removeAll(ctx, of)
  const sorted = await sortEntries(ctx, entries, (ids) => removeMembers(ctx.db, of, ids))
  if (sorted.success.length > 0) return sorted
  throw invalidParameter({
    message: 'Contact already removed from list and/or does not exist',
    param: entries.kind,
  })
}

/** A client of the provider asks for the process until it is completed. */
async function removeAll({ db, now: at }: Ctx, of: { accountId: string; listId: string }): Promise<Removed> {
  const total = await removeAllMembers(db, of)
  const { id } = await insertDone(db, of.accountId, { name: 'REMOVECONTACTS', total, at })
  return { total, processId: Number(id) }
}

async function hold(ctx: Ctx, id: number): Promise<string> {
  const [list] = await holdLists(ctx.db, ctx.caller.accountId, [String(id)])
  if (!list) throw listUnknown()
  return list.id
}

function givenKinds(body: Static<typeof AddBody>): Entries[] {
  return kinds.map((kind) => ({ kind, given: body[kind] ?? [] })).filter(({ given }) => given.length > 0)
}

function readEntries(body: Static<typeof AddBody>): Entries {
  const [entries, second] = givenKinds(body)
  if (!entries) {
    throw missingParameter({ message: 'Either of emails, ids or extIds is required', param: 'emails' })
  }
  if (!second) return entries
  throw invalidParameter({ message: 'Only one of emails, ids and extIds can be given', param: second.kind })
}

function refuseNames(body: Static<typeof AddBody>): void {
  const [entries] = givenKinds(body)
  if (!entries) return
  throw invalidParameter({ message: `${entries.kind} cannot be given together with all`, param: 'all' })
}

/** Entries as they came: those whose contact the change touched, and the others. */
async function sortEntries(
  ctx: Ctx,
  { kind, given }: Entries,
  change: (contactIds: string[]) => Promise<{ id: string }[]>,
): Promise<Sorted> {
  const names = given.map((entry) => nameOf(kind, entry))
  const wanted = [...new Set(names.filter((name) => name !== undefined))]
  const found = await holdContacts(ctx.db, ctx.caller.accountId, kind, wanted)
  const touched = new Set((await change(found.map(({ id }) => id))).map(({ id }) => id))
  await touchContacts(ctx.db, ctx.caller.accountId, [...touched], ctx.now)
  const done = new Set(found.filter(({ id }) => touched.has(id)).map(({ name }) => name))
  const isDone = (i: number) => done.has(names[i] ?? '')
  return {
    success: given.filter((_, i) => isDone(i)),
    failure: given.filter((_, i) => !isDone(i)),
  }
}

/** The form that the database has; undefined for what is no address. */
function nameOf(kind: Kind, entry: string | number): string | undefined {
  return kind === 'emails' ? normalEmail(String(entry)) : String(entry)
}
