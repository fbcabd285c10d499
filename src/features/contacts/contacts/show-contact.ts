// A contact as callers see it.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { calculatorOf } from '../attributes/calculate.ts'
import { type ContactRow, isBlacklisted } from './row-queries.ts'

const Text = Type.String()

export const Contact = closed({
  id: Type.Integer(),
  email: Type.Optional(Text),
  ext_id: Type.Optional(Text),
  emailBlacklisted: Type.Boolean(),
  smsBlacklisted: Type.Boolean(),
  whatsappBlacklisted: Type.Boolean(),
  status: words(['subscribed', 'unsubscribed']),
  createdAt: Time,
  modifiedAt: Time,
  listIds: Type.Array(Type.Integer()),
  listUnsubscribed: orNull(Type.Array(Type.Integer())),
  attributes: Type.Record(Text, Type.Unknown()),
  tags: Type.Array(Text),
  consentDate: orNull(Time),
  consentSource: orNull(Text),
  consent_ip: orNull(Text),
  consent_text: orNull(Text),
  tracking_consent: orNull(Type.Boolean()),
})

/** With what is calculated from their attributes. */
export async function showContacts(ctx: Ctx, rows: ContactRow[]): Promise<Static<typeof Contact>[]> {
  const calculate = await calculatorOf(ctx.db, ctx.caller.accountId, ctx.now)
  return rows.map((row) => showContact({ ...row, attributes: calculate(row.attributes) }))
}

function showContact(found: ContactRow): Static<typeof Contact> {
  return {
    id: Number(found.id),
    ...(found.email === null ? {} : { email: found.email }),
    ...(found.ext_id === null ? {} : { ext_id: found.ext_id }),
    emailBlacklisted: isBlacklisted(found),
    smsBlacklisted: found.sms_blacklisted,
    whatsappBlacklisted: false,
    status: found.status,
    createdAt: found.created_at.toISOString(),
    modifiedAt: found.modified_at.toISOString(),
    listIds: found.list_ids.map(Number),
    listUnsubscribed: found.left_list_ids.length > 0 ? found.left_list_ids.map(Number) : null,
    attributes: { ...found.attributes, ...(found.sms === null ? {} : { SMS: found.sms }) },
    tags: found.tags,
    consentDate: found.consent_date?.toISOString() ?? null,
    consentSource: found.consent_source,
    consent_ip: found.consent_ip,
    consent_text: found.consent_text,
    tracking_consent: found.tracking_consent,
  }
}
