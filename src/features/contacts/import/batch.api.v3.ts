import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { operation } from '../../../kernel/operation.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { missingParameter, notFound } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, optional } from '../../../kernel/v3/lenient.ts'
import { erasedStays } from '../../suppressions/suppressions.ts'
import { ContactBody } from '../contacts/contact-body.ts'
import { contactExists } from '../contacts/contact-exists.ts'
import { type ContactRef, lockContacts } from '../contacts/queries.ts'
import { readRef } from '../contacts/read-ref.ts'
import { changeContact, namedLists } from '../contacts/write-contact.ts'
import { holdCounts } from '../lists/queries.ts'

const { email, ext_id, attributes, tags, listIds, unlinkListIds, emailBlacklisted, smsBlacklisted } =
  ContactBody.properties

// Consent is recorded one contact at a time.
const Entry = closed({
  id: optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  email,
  ext_id,
  sms: Type.Optional(Type.String({ maxLength: 40 })),
  attributes,
  tags,
  listIds,
  unlinkListIds,
  emailBlacklisted,
  smsBlacklisted,
})

type Entry = Static<typeof Entry>

export const batchContactsV3 = operation({
  name: 'contact.batch',
  http: 'POST /v3/contacts/batch',
  area: 'Contacts',
  summary: 'Change up to 100 contacts, all of them or none',
  scope: 'contacts.write',
  effect: 'change',
  body: closed({ contacts: Type.Array(Entry, { minItems: 1, maxItems: 100 }) }),
  secret: ['contacts'],
  status: 204,
  reply: Type.Null(),
  refusals: [notFound, contactExists, erasedStays],
}).run(async (ctx, { body }) => {
  const named: Named[] = []
  for (const [i, entry] of body.contacts.entries())
    named.push({ entry, ref: await naming(i, async () => refOf(entry)) })
  await holdAll(ctx, named)
  for (const [i, { entry, ref }] of named.entries()) await naming(i, () => changeContact(ctx, ref, entry))
  return null
})

type Named = { entry: Entry; ref: ContactRef }

/** First all contacts, then all lists, each in their order: two batches of the same ones wait, and go on. */
async function holdAll({ db, caller: { accountId } }: Ctx, named: Named[]): Promise<void> {
  await lockContacts(
    db,
    accountId,
    named.map(({ ref }) => ref),
  )
  await holdCounts(db, accountId, [...new Set(named.flatMap(({ entry }) => namedLists(entry)))])
}

/** What is refused says which entry it was. */
async function naming<T>(i: number, act: () => Promise<T>): Promise<T> {
  const place = `contacts[${i}]`
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(error.declaration, {
      ...error.told,
      message: `${place}: ${error.message}`,
      param: place,
    })
  }
}

function refOf(entry: Entry) {
  if (entry.id) return readRef(String(entry.id), 'contact_id')
  const [address, extId, phone] = [given(entry.email), given(entry.ext_id), given(entry.sms)]
  if (address !== undefined) return readRef(address, 'email_id')
  if (extId !== undefined) return readRef(extId, 'ext_id')
  if (phone !== undefined) return readRef(phone, 'phone_id')
  throw missingParameter({ message: 'one of id, email, ext_id and sms is required' })
}
