// Recording custom events: whose they are, what they say about that contact, and the runs they start.
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { type ContactRef, findContact, lockContact } from '../../contacts/contacts/queries.ts'
import type { ContactRow } from '../../contacts/contacts/row-queries.ts'
import { changeContact, createContact } from '../../contacts/contacts/write-contact.ts'
import { recipientSuppressed } from '../../messages/refusals.ts'
import { findSuppressed } from '../../suppressions/queries.ts'
import { startEventRuns } from '../automations/run-queries.ts'
import type { GivenEvent } from './event-body.ts'
import { insertEventNames, insertEvents, type NewEvent } from './queries.ts'

/** Finds or makes its contact and changes what the event says about it. Refused without a trace, or done whole. */
export async function resolveEvent(ctx: Ctx, event: GivenEvent): Promise<NewEvent> {
  const { name, date, properties, contactProperties, objectType, objectId } = event
  return {
    id: newUuid(),
    contactId: await contactOf(ctx, event),
    name,
    date: date.toISOString(),
    properties,
    contactProperties,
    objectType,
    objectId,
  }
}

/** In the transaction that resolved them, so that an event is there with all of its runs or not at all. */
export async function recordEvents({ db, caller, now }: Ctx, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const { accountId, mode } = caller
  await insertEvents(db, accountId, events, now)
  await insertEventNames(db, accountId, [...new Set(events.map(({ name }) => name))].sort(), now)
  await startEventRuns(db, { accountId, mode, at: now }, events)
}

/** What the history calls it. */
const asEvent = (ctx: Ctx) => ({ ...ctx, source: 'event' })

async function contactOf(ctx: Ctx, event: GivenEvent): Promise<string> {
  const known = await findKnown(ctx, event.refs)
  // Who somebody is stands in the identifiers alone.
  const attributes = Object.fromEntries(
    Object.entries(event.contactProperties).filter(([name]) => !/^\s*(email|ext_id)\s*$/i.test(name)),
  )
  if (known === undefined) return makeContact(ctx, event.refs, attributes)
  const { ext_id, ...names } = await newNames(ctx, known, event.refs)
  if (ext_id !== undefined || Object.keys({ ...attributes, ...names }).length > 0)
    await changeContact(asEvent(ctx), { id: known.id }, { ext_id, attributes: { ...attributes, ...names } })
  return known.id
}

type Names = { EMAIL?: string; ext_id?: string; SMS?: string }

/** What the contact was not known by so far: the next event may name it so alone, and mail needs the address. */
async function newNames({ db, caller }: Ctx, known: ContactRow, refs: ContactRef[]): Promise<Names> {
  const { accountId } = caller
  if (!refs.some((ref) => lacks(known, ref))) return {}
  const held = (await lockContact(db, accountId, { id: known.id })) ?? known
  const names: Names = {}
  for (const ref of refs.filter((one) => lacks(held, one))) {
    // Somebody else's stays theirs.
    if (await findContact(db, accountId, ref)) continue
    if ('email' in ref && !(await isErased(db, accountId, ref.email))) names.EMAIL = ref.email
    if ('extId' in ref) names.ext_id = ref.extId
    if ('sms' in ref) names.SMS = ref.sms
  }
  return names
}

function lacks({ email, ext_id, sms }: ContactRow, ref: ContactRef): boolean {
  if ('email' in ref) return email === null
  if ('extId' in ref) return ext_id === null
  return 'sms' in ref && sms === null
}

async function findKnown({ db, caller }: Ctx, refs: ContactRef[]): Promise<ContactRow | undefined> {
  for (const ref of refs) {
    const found = await findContact(db, caller.accountId, ref)
    if (found) return found
    if ('id' in ref)
      throw invalidParameter({ message: 'Contact does not exist', param: 'identifiers.contact_id' })
  }
  return undefined
}

async function makeContact(ctx: Ctx, refs: ContactRef[], attributes: Record<string, unknown>) {
  const named = Object.assign({}, ...refs) as { email?: string; extId?: string; sms?: string }
  if (named.email !== undefined) await refuseErased(ctx, named.email)
  const { id } = await createContact(asEvent(ctx), {
    email: named.email,
    ext_id: named.extId,
    attributes: named.sms === undefined ? attributes : { ...attributes, SMS: named.sms },
    updateEnabled: true,
  })
  return String(id)
}

async function isErased(db: Db, accountId: string, email: string): Promise<boolean> {
  const found = await findSuppressed(db, [{ accountId, email }])
  return found.some(({ is_erased }) => is_erased)
}

async function refuseErased({ db, caller }: Ctx, email: string): Promise<void> {
  if (!(await isErased(db, caller.accountId, email))) return
  throw recipientSuppressed({
    message: `${email} was erased and does not become a contact again.`,
    param: 'identifiers.email_id',
  })
}
