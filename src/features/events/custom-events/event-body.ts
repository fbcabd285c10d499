// What a custom event says, read into what is kept.
import { type Static, Type } from 'typebox'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { readSince } from '../../../kernel/v3/dates.ts'
import { given, mapOf, oneLine, optional, optionalMap } from '../../../kernel/v3/lenient.ts'
import type { ContactRef } from '../../contacts/contacts/queries.ts'
import { type IdentifierType, readRef } from '../../contacts/contacts/read-ref.ts'

const Text = Type.Optional(Type.String({ maxLength: 320 }))
const ContactId = optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

export const EventBody = closed({
  event_name: Type.Optional(Type.String({ description: 'Up to 255 letters, digits, - and _' })),
  event_date: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601; now when absent' })),
  identifiers: optional(
    closed(
      {
        contact_id: ContactId,
        email_id: Text,
        ext_id: Text,
        phone_id: Text,
        whatsapp_id: Text,
        landline_number_id: Text,
        sms: Text,
        whatsapp: Text,
        landline_number: Text,
      },
      {
        description:
          'Who; contact_id alone where it is given. Else the first that is known counts, and an unknown person ' +
          'becomes a contact; the others are added to a contact that has none of their kind, unless they are ' +
          'somebody else’s',
      },
    ),
  ),
  event_properties: optionalMap(Type.Unknown()),
  contact_properties: optionalMap(Type.Unknown()),
  object: optional(
    closed({
      type: Text,
      identifiers: optional(closed({ ext_id: Text, id: Text })),
    }),
  ),
})

export type EventBody = Static<typeof EventBody>
type Identifiers = NonNullable<EventBody['identifiers']>

export type GivenEvent = {
  name: string
  date: Date
  /** In the order in which they count. */
  refs: ContactRef[]
  properties: Record<string, unknown>
  contactProperties: Record<string, unknown>
  objectType: string | null
  objectId: string | null
}

const nameForm = /^[A-Za-z0-9_-]{1,255}$/
const mostPropertyBytes = 50 * 1024

export function readEvent(body: EventBody, now: Date): GivenEvent {
  const ids = body.object?.identifiers
  return {
    name: readName(body.event_name),
    date: readDate(body.event_date) ?? now,
    refs: readRefs(body.identifiers ?? {}),
    properties: readProperties(mapOf(body.event_properties)),
    contactProperties: mapOf(body.contact_properties),
    objectType: textOrNull(body.object?.type),
    objectId: textOrNull(ids?.ext_id) ?? textOrNull(ids?.id),
  }
}

function readName(text: string | undefined): string {
  const name = given(text)
  if (name === undefined) throw missingParameter({ message: 'event_name is missing', param: 'event_name' })
  if (nameForm.test(name)) return name
  const message = 'event_name must be up to 255 letters, digits, - and _'
  throw invalidParameter({ message, param: 'event_name' })
}

function readDate(text: string | undefined): Date | undefined {
  const date = readSince(text, 'event_date')
  if (date === undefined || date.getTime() >= 0) return date
  throw invalidParameter({ message: 'event_date must not be before 1970', param: 'event_date' })
}

const phoneFields = [
  'phone_id',
  'sms',
  'whatsapp_id',
  'whatsapp',
  'landline_number_id',
  'landline_number',
] as const

function readRefs(identifiers: Identifiers): ContactRef[] {
  if (identifiers.contact_id) return [{ id: String(identifiers.contact_id) }]
  const phone = phoneFields.map((name) => given(identifiers[name])).find((one) => one !== undefined)
  const named: [IdentifierType, string | undefined][] = [
    ['email_id', given(identifiers.email_id)],
    ['ext_id', given(identifiers.ext_id)],
    ['phone_id', phone],
  ]
  const refs = named.flatMap(([type, text]) => (text === undefined ? [] : [refOf(type, text)]))
  if (refs.length > 0) return refs
  throw missingParameter({ message: 'identifiers is missing', param: 'identifiers' })
}

function refOf(type: IdentifierType, text: string): ContactRef {
  try {
    return readRef(type === 'ext_id' ? oneLine(text) : text, type)
  } catch {
    throw invalidParameter({ message: `${type} is not valid in identifiers`, param: `identifiers.${type}` })
  }
}

function readProperties(properties: Record<string, unknown>): Record<string, unknown> {
  if (Buffer.byteLength(JSON.stringify(properties)) <= mostPropertyBytes) return properties
  throw invalidParameter({ message: 'event_properties must be at most 50 KB', param: 'event_properties' })
}

function textOrNull(text: string | undefined): string | null {
  return given(oneLine(text ?? '')) ?? null
}
