// Creating and changing a contact: its row, the history of what changed, its consent, its lists, its blacklisting.
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { newUuid } from '../../../kernel/id.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { given } from '../../../kernel/v3/lenient.ts'
import { deleteBlockedSenders } from '../../suppressions/blocked-sender-queries.ts'
import { lift, liftKnown, type Reason, suppress, unsuppress } from '../../suppressions/suppressions.ts'
import type { Value } from '../attributes/values.ts'
import { addMembers, removeMembers } from '../lists/member-queries.ts'
import { holdCounts, holdLists } from '../lists/queries.ts'
import { blockSenders } from './block-senders.ts'
import { blacklistFirst, carrySuppression, comeOnto } from './carry-suppression.ts'
import { type ContactBody, readBody, type Wanted } from './contact-body.ts'
import { takenBy } from './contact-exists.ts'
import {
  type ContactFields,
  type ContactRef,
  deleteContact,
  findHolders,
  insertContact,
  lockContact,
  updateContact,
} from './queries.ts'
import { holdContact } from './read-ref.ts'
import type { ContactRow, ContactStatus } from './row-queries.ts'
import { readTags } from './trail.ts'
import { insertChanges, insertConsent, nameInHistory, setTags } from './trail-queries.ts'

/** Who changes contacts, and what their history calls the change. */
export type Writer = {
  db: Db
  now: Date
  caller: Pick<Ctx['caller'], 'accountId' | 'keyId' | 'mode'>
  /** api when absent. */
  source?: string
}

type Plain = Omit<ContactFields, 'attributes'> & { attributes: Record<string, Value> }

const blank: Plain = {
  email: null,
  ext_id: null,
  sms: null,
  status: 'subscribed',
  sms_blacklisted: false,
  attributes: {},
  consent_date: null,
  consent_source: null,
  consent_ip: null,
  consent_text: null,
  tracking_consent: null,
}

/** Not new: one that was there is changed instead. */
type Created = { id: number; isNew: boolean }

export async function createContact(ctx: Writer, body: ContactBody): Promise<Created> {
  const wanted = await placed(ctx, await readBody(ctx, body))
  const ref = refIn(wanted)
  if (!ref) throw missingParameter({ message: 'email is missing', param: 'email' })
  await refuseUnknownLists(ctx, body)
  const fields = applied(blank, { ...wanted, newEmail: undefined }, body)
  const made = await insertContact(ctx.db, ctx.caller.accountId, rowOf(fields), ctx.now)
  if (made) {
    await record(ctx, made.id, { before: blank, after: fields, body })
    if (body.emailBlacklisted === false && fields.email !== null)
      await lift(ctx.db, { accountId: ctx.caller.accountId, email: fields.email }, decisions)
    await comeOnto(ctx, made.id, fields.email, body)
    return { id: Number(made.id), isNew: true }
  }
  const found =
    (await lockContact(ctx.db, ctx.caller.accountId, ref)) ?? (await lockMoving(ctx, wanted, body))
  if (!found || !body.updateEnabled)
    throw takenBy(await findHolders(ctx.db, ctx.caller.accountId, rowOf(fields)), body)
  await change(ctx, found, wanted, body)
  return { id: Number(found.id), isNew: false }
}

/** Another address beside the one that a contact is named by is the new one of that contact, or of the one made. */
async function placed({ db, caller }: Writer, wanted: Wanted): Promise<Wanted> {
  const { email, newEmail } = wanted
  if (!newEmail || email === undefined || newEmail === email) return wanted
  const known = await lockContact(db, caller.accountId, { email })
  return known ? wanted : { ...wanted, email: newEmail }
}

/** Of one that is named by its own identifier, an address among the attributes is the new one. */
async function lockMoving({ db, caller }: Writer, { ext_id }: Wanted, body: ContactBody) {
  return ext_id && !given(body.email) ? lockContact(db, caller.accountId, { extId: ext_id }) : undefined
}

export async function changeContact(ctx: Ctx, ref: ContactRef, body: ContactBody): Promise<void> {
  const wanted = await readBody(ctx, body)
  const found = await holdContact(ctx, ref)
  await refuseUnknownLists(ctx, body)
  await change(ctx, found, wanted, body)
}

export async function removeContact(ctx: Ctx, ref: ContactRef): Promise<void> {
  const { id } = await holdContact(ctx, ref)
  await deleteContact(ctx.db, ctx.caller.accountId, id)
}

/** Back to subscribed; whatever suppressed the address is lifted. */
export async function resubscribe(ctx: Ctx, ref: ContactRef): Promise<void> {
  const found = await holdContact(ctx, ref)
  const after: Plain = { ...plainOf(found), status: 'subscribed' }
  await save(ctx, found, after, {})
  if (found.email !== null) await liftKnown(ctx.db, { accountId: ctx.caller.accountId, email: found.email })
}

/** Takes an address off the suppression list; a contact that has it is subscribed again. */
export async function unblock(ctx: Ctx, given: string): Promise<void> {
  const email = normalEmail(given)
  const found = email && (await lockContact(ctx.db, ctx.caller.accountId, { email }))
  const unblocked = email ? await deleteBlockedSenders(ctx.db, { accountId: ctx.caller.accountId, email }) : 0
  if (found && found.status === 'unsubscribed') return resubscribe(ctx, { id: found.id })
  if (unblocked > 0 && email) await lift(ctx.db, { accountId: ctx.caller.accountId, email })
  else await unsuppress(ctx, given)
}

function refIn({ email, ext_id, sms }: Wanted): ContactRef | undefined {
  if (email !== undefined) return { email }
  if (ext_id) return { extId: ext_id }
  return sms ? { sms } : undefined
}

async function refuseUnknownLists({ db, caller }: Writer, body: ContactBody): Promise<void> {
  const asked = namedLists(body)
  if (asked.length === 0) return
  const known = new Set((await holdLists(db, caller.accountId, asked)).map(({ id }) => id))
  const unknown = asked.find((id) => !known.has(id))
  if (unknown !== undefined)
    throw invalidParameter({ message: `List ID ${unknown} does not exist`, param: 'listIds' })
}

async function change(ctx: Writer, found: ContactRow, wanted: Wanted, body: ContactBody): Promise<void> {
  const after = applied(plainOf(found), wanted, body)
  refuseNameless(found, wanted, after)
  const holders = await findHolders(ctx.db, ctx.caller.accountId, rowOf(after))
  if (holders.some(({ id }) => id !== found.id)) throw takenBy(holders, body, found.id)
  if (after.email !== found.email) await carrySuppression(ctx, found.email, after.email)
  await save(ctx, found, after, body)
  if (found.email === null && after.email !== null && after.status === 'unsubscribed')
    await blacklistFirst(ctx, [{ id: found.id, email: after.email }])
  if (after.email !== found.email) await comeOnto(ctx, found.id, after.email, body)
  if (body.emailBlacklisted === false && after.email !== null)
    await liftKnown(ctx.db, { accountId: ctx.caller.accountId, email: after.email }, decisions)
}

/** An address is only ever changed, since lists and mail hang on it; other names may go while one is left. */
function refuseNameless({ email: before }: ContactRow, wanted: Wanted, { email, ext_id, sms }: Plain): void {
  if (wanted.newEmail === null && before !== null)
    throw invalidParameter({
      message: 'EMAIL cannot be emptied: give another address, or delete the contact',
      param: 'attributes.EMAIL',
    })
  if (email !== null || ext_id !== null || sms !== null) return
  throw invalidParameter({ message: 'A contact keeps one of email, ext_id and SMS', param: 'ext_id' })
}

async function save(ctx: Writer, found: ContactRow, after: Plain, body: ContactBody): Promise<void> {
  const { accountId } = ctx.caller
  await updateContact(ctx.db, { accountId, id: found.id, at: ctx.now }, rowOf(after))
  await record(ctx, found.id, { before: plainOf(found), after, body })
}

function plainOf(found: ContactRow): Plain {
  const {
    id: _id,
    tags: _tags,
    created_at: _c,
    modified_at: _m,
    list_ids: _l,
    left_list_ids: _u,
    is_suppressed: _s,
    ...plain
  } = found
  return plain
}

function rowOf(plain: Plain): ContactFields {
  return { ...plain, attributes: JSON.stringify(plain.attributes) }
}

function applied(before: Plain, wanted: Wanted, body: ContactBody): Plain {
  const attributes = { ...before.attributes }
  for (const [name, value] of wanted.attributes)
    if (value === null) delete attributes[name]
    else attributes[name] = value
  const { emailBlacklisted, smsBlacklisted } = body
  const status: ContactStatus = emailBlacklisted ? 'unsubscribed' : 'subscribed'
  return {
    ...before,
    email: wanted.newEmail ?? wanted.email ?? before.email,
    ext_id: wanted.ext_id === undefined ? before.ext_id : wanted.ext_id,
    sms: wanted.sms === undefined ? before.sms : wanted.sms,
    status: typeof emailBlacklisted === 'boolean' ? status : before.status,
    sms_blacklisted: typeof smsBlacklisted === 'boolean' ? smsBlacklisted : before.sms_blacklisted,
    attributes,
    ...(beginsConsent(before, wanted) ? unsaid : {}),
    ...wanted.consent,
  }
}

const unsaid = { consent_source: null, consent_ip: null, consent_text: null }

/** What was said with the consent before, and from where, is no proof of another one. A date alone may come later. */
function beginsConsent(before: Plain, { consent }: Wanted): boolean {
  const { consent_date: date, consent_source: source } = consent
  if (!date || date.getTime() === before.consent_date?.getTime()) return false
  return before.consent_date !== null || source !== undefined
}

type Step = { before: Plain; after: Plain; body: ContactBody }

async function record(ctx: Writer, id: string, { before, after, body }: Step): Promise<void> {
  const { accountId, mode } = ctx.caller
  await insertChanges(
    ctx.db,
    { accountId, at: ctx.now, source: ctx.source ?? 'api' },
    changesOf(id, before, after),
  )
  await recordConsent(ctx, id, before, after)
  if (body.tags) await setTags(ctx.db, { accountId, contactId: id, tags: readTags(body.tags), at: ctx.now })
  await holdCounts(ctx.db, accountId, namedLists(body))
  for (const listId of sorted(body.listIds))
    await addMembers(ctx.db, { accountId, listId, mode }, [id], ctx.now)
  for (const listId of sorted(body.unlinkListIds)) await removeMembers(ctx.db, { accountId, listId }, [id])
  if (body.emailBlacklisted && after.email !== null) {
    const why = { reason: 'manual', source: 'contact', messageId: null, at: ctx.now } as const
    await suppress(ctx.db, { accountId, email: after.email }, why)
  }
  if (body.smtpBlacklistSender)
    await blockSenders({ db: ctx.db, accountId, now: ctx.now }, after.email, body.smtpBlacklistSender)
}

export const namedLists = ({ listIds, unlinkListIds }: Pick<ContactBody, 'listIds' | 'unlinkListIds'>) =>
  sorted([...(listIds ?? []), ...(unlinkListIds ?? [])])

/** Two changes count up the same lists in the same order, and do not wait for each other. */
const sorted = (ids: number[] | null | undefined) => [...new Set(ids ?? [])].sort((a, b) => a - b).map(String)

function changesOf(contactId: string, before: Plain, after: Plain) {
  const names = new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)])
  const pairs: [string, unknown, unknown][] = [
    ...[...names].map((name): [string, unknown, unknown] => [
      nameInHistory(name),
      before.attributes[name],
      after.attributes[name],
    ]),
    ['EMAIL', before.email, after.email],
    ['SMS', before.sms, after.sms],
    ['STATUS', before.status, after.status],
  ]
  return pairs
    .filter(([, from, to]) => JSON.stringify(from ?? null) !== JSON.stringify(to ?? null))
    .map(([attribute, from, to]) => ({
      id: newUuid(),
      contact_id: contactId,
      attribute,
      old_value: from ?? null,
      new_value: to ?? null,
    }))
}

const consentParts = [
  'consent_date',
  'consent_source',
  'consent_ip',
  'consent_text',
  'tracking_consent',
] as const

/** The consent as it stands now is added; what stood before stays in the ledger. */
async function recordConsent(ctx: Writer, contactId: string, before: Plain, after: Plain): Promise<void> {
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  if (consentParts.every((part) => same(before[part], after[part]))) return
  await insertConsent(ctx.db, {
    accountId: ctx.caller.accountId,
    contactId,
    id: newUuid(),
    date: after.consent_date,
    source: after.consent_source,
    ip: after.consent_ip,
    text: after.consent_text,
    tracking: after.tracking_consent,
    keyId: ctx.caller.keyId,
    at: ctx.now,
  })
}

// What emailBlacklisted: false takes back. Many programs say it of everybody at every change: a bounce or a complaint
// is not forgotten by that, only by resubscribing.
const decisions: Reason[] = ['manual', 'unsubscribe']
