// What a create or a change may say about a contact, read into what is kept.
import { isIP } from 'node:net'
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { readMoment } from '../../../kernel/v3/dates.ts'
import { given, mapOf, oneLine, optional, optionalMap } from '../../../kernel/v3/lenient.ts'
import { listAttributes } from '../attributes/queries.ts'
import { readValue, type Value } from '../attributes/values.ts'
import { readPhone } from './read-ref.ts'

const ListIds = optional(
  Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: 1000 }),
)
const longestConsentText = 10_000

export const ContactBody = closed({
  email: Type.Optional(Type.String({ maxLength: 320 })),
  ext_id: Type.Optional(Type.String({ maxLength: 255, description: 'Emptied by an empty text' })),
  attributes: optionalMap(Type.Unknown()),
  tags: optional(
    Type.Array(Type.String(), {
      maxItems: 100,
      description: 'In place of those before; unknown ones are created',
    }),
  ),
  listIds: ListIds,
  unlinkListIds: ListIds,
  emailBlacklisted: optional(Type.Boolean()),
  smsBlacklisted: optional(Type.Boolean()),
  updateEnabled: optional(Type.Boolean({ description: 'An existing contact is changed instead of refused' })),
  forceMerge: optional(
    Type.Boolean({
      description: 'Contacts are not merged: what another one has is refused, with what to do',
    }),
  ),
  smtpBlacklistSender: optional(
    Type.Array(Type.String({ maxLength: 320 }), {
      maxItems: 100,
      description: 'Senders whose transactional mail it does not get, in place of those before',
    }),
  ),
  getId: optional(Type.Boolean({ description: 'One that is changed is answered by its number too' })),
  consentDate: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, or day/month/year' })),
  consentSource: Type.Optional(Type.String({ maxLength: 255 })),
  consent_ip: Type.Optional(Type.String({ maxLength: 45 })),
  consent_text: Type.Optional(Type.String({ maxLength: longestConsentText })),
  tracking_consent: optional(
    Type.Boolean({ description: 'Whether opens may be noted; a no wins over the account’s setting' }),
  ),
})
export type ContactBody = Static<typeof ContactBody>

export type Consent = {
  consent_date: Date | null
  consent_source: string | null
  consent_ip: string | null
  consent_text: string | null
  tracking_consent: boolean | null
}

/** Absent: not spoken of. A value of null empties it. */
export type Wanted = {
  email?: string
  /** What the attributes say, beside an email that may name the contact. */
  newEmail?: string | null
  ext_id?: string | null
  sms?: string | null
  attributes: Map<string, Value | null>
  consent: Partial<Consent>
}

/** What reading needs of a context. */
type Reader = { db: Db; now: Date; caller: Pick<Ctx['caller'], 'accountId'> }

export async function readBody(ctx: Reader, body: ContactBody): Promise<Wanted> {
  const attributes = new Map(
    Object.entries(mapOf(body.attributes)).map(([name, value]) => [name.trim().toUpperCase(), value]),
  )
  const newEmail = emptiable(attributes, 'EMAIL')
  const email = given(body.email) ?? newEmail ?? undefined
  const extId = body.ext_id === undefined ? emptiable(attributes, 'EXT_ID') : (given(body.ext_id) ?? null)
  return {
    ...(email === undefined ? {} : { email: readEmail(email) }),
    ...(newEmail === undefined ? {} : { newEmail: newEmail === null ? null : readEmail(newEmail) }),
    ...(extId === undefined ? {} : { ext_id: extId === null ? null : oneLine(extId) }),
    ...(attributes.has('SMS') ? { sms: readSms(attributes.get('SMS')) } : {}),
    attributes: await readAttributes(ctx, attributes),
    consent: readConsent(body, ctx.now),
  }
}

function emptiable(attributes: Map<string, unknown>, name: string): string | null | undefined {
  const value = attributes.get(name)
  if (value === undefined || value === null) return value
  if (isPlain(value)) return given(String(value)) ?? null
  throw invalidParameter({ message: `${name} must be a text`, param: `attributes.${name}` })
}

/** Turning anything else into a text may throw. */
const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number'

function readEmail(text: string): string {
  const email = normalEmail(text)
  if (email !== undefined) return email
  throw invalidParameter({ message: 'Invalid email address', param: 'email' })
}

function readSms(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  const sms = isPlain(value) ? readPhone(String(value)) : undefined
  if (sms !== undefined) return sms
  throw invalidParameter({ message: 'Invalid phone number', param: 'attributes.SMS' })
}

const ownColumns = new Set(['EMAIL', 'SMS', 'EXT_ID'])

/** Unknown ones are left out, as the provider does; a value of the wrong type is refused. */
async function readAttributes(ctx: Reader, given: Map<string, unknown>): Promise<Map<string, Value | null>> {
  const asked = [...given].filter(([name]) => !ownColumns.has(name))
  if (asked.length === 0) return new Map()
  const known = new Map((await listAttributes(ctx.db, ctx.caller.accountId)).map((one) => [one.name, one]))
  const read = asked.flatMap(([name, value]): [string, Value | null][] => {
    const attribute = known.get(name)
    if (!attribute || attribute.type === null) return []
    const result = readValue(attribute, value)
    if ('fault' in result)
      throw invalidParameter({ message: `${name} ${result.fault}`, param: `attributes.${name}` })
    return [[name, result.value]]
  })
  return new Map(read)
}

function readConsent(body: ContactBody, now: Date): Partial<Consent> {
  const date = given(body.consentDate)
  const source = given(body.consentSource)
  const ip = given(body.consent_ip)
  const text = given(body.consent_text)
  if (ip !== undefined && isIP(ip.trim()) === 0)
    throw invalidParameter({ message: 'consent_ip must be an IP address', param: 'consent_ip' })
  return {
    ...(date === undefined ? {} : { consent_date: consentDateOrRefuse(date, now) }),
    ...(source === undefined ? {} : { consent_source: oneLine(source) }),
    ...(ip === undefined ? {} : { consent_ip: ip.trim() }),
    ...(text === undefined ? {} : { consent_text: text }),
    ...(typeof body.tracking_consent === 'boolean' ? { tracking_consent: body.tracking_consent } : {}),
  }
}

function consentDateOrRefuse(text: string, now: Date): Date {
  const date = readConsentDate(text)
  if (date && isToCome(date, now))
    throw invalidParameter({ message: 'consentDate must not be in the future', param: 'consentDate' })
  if (date) return date
  const message = 'consentDate must be ISO 8601, such as 2026-11-15T12:00:00Z, or day/month/year'
  throw invalidParameter({ message, param: 'consentDate' })
}

const dayMs = 86_400_000

/** Nobody can have consented then. A day is left for clocks, and for dates of places where it is tomorrow already. */
export const isToCome = (consentDate: Date, now: Date) => consentDate.getTime() > now.getTime() + dayMs

const dayFirst = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/

/** A time without a zone is taken as UTC. */
export function readConsentDate(given: string): Date | undefined {
  const text = given.trim()
  const [, day = '', month = '', year = ''] = dayFirst.exec(text) ?? []
  return readMoment(year === '' ? text : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
}
