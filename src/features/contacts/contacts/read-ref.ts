// Which contact a path means: its number, its address, the customer's own identifier or a telephone number.
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { invalidParameter, notFound } from '../../../kernel/refusals.ts'
import { words } from '../../../kernel/schema.ts'
import { type ContactRef, findContact, lockContact } from './queries.ts'
import type { ContactRow } from './row-queries.ts'

// A contact has one telephone number, whatever it is called on.
const phoneTypes = ['phone_id', 'whatsapp_id', 'landline_number_id'] as const
export const identifierTypes = ['email_id', 'contact_id', 'ext_id', ...phoneTypes] as const
export type IdentifierType = (typeof identifierTypes)[number]
export const IdentifierType = words(identifierTypes, {
  description: 'What the identifier is; when absent an address or a number',
})

export const contactUnknown = () => notFound({ message: 'Contact does not exist' })

const largestId = 9_223_372_036_854_775_807n

export function readRef(identifier: string, type?: IdentifierType): ContactRef {
  const ref = refOf(identifier.trim(), type ?? (identifier.includes('@') ? 'email_id' : 'contact_id'))
  if (ref) return ref
  throw invalidParameter({ message: 'Invalid contact identifier', param: 'identifier' })
}

function refOf(given: string, type: IdentifierType): ContactRef | undefined {
  if (type === 'ext_id') return given.includes('\0') ? undefined : { extId: given }
  if (type === 'email_id') return refIf(normalEmail(given), (email) => ({ email }))
  if (isPhone(type)) return refIf(readPhone(given), (sms) => ({ sms }))
  // More digits than a row's number can have are nobody's, not an error of the database.
  return /^\d{1,19}$/.test(given) && BigInt(given) <= largestId ? { id: given } : undefined
}

const isPhone = (type: IdentifierType) => phoneTypes.some((one) => one === type)

/** One that is read may be named by its telephone number without saying so; a number of a contact goes first. */
export async function findAnyRef(ctx: Ctx, identifier: string, type?: IdentifierType): Promise<ContactRef> {
  const sms = type || identifier.includes('@') ? undefined : readPhone(identifier)
  if (sms === undefined) return readRef(identifier, type)
  const ref = refOf(identifier.trim(), 'contact_id')
  return ref && (await findContact(ctx.db, ctx.caller.accountId, ref)) ? ref : { sms }
}

function refIf(value: string | undefined, make: (value: string) => ContactRef): ContactRef | undefined {
  return value === undefined ? undefined : make(value)
}

/** Digits with the country's: 33…, +33…, 0033… and +33 (0)… are one number. */
export function readPhone(given: string): string | undefined {
  const digits = given.replaceAll(/[\s().-]/g, '').replace(/^(\+|00)/, '')
  if (!/^[1-9]\d{5,14}$/.test(digits)) return undefined
  const number = parsePhoneNumberFromString(`+${digits}`)
  // One of no country we know stays as it is.
  return number?.isPossible() ? number.number.slice(1) : digits
}

export async function readContact(ctx: Ctx, ref: ContactRef): Promise<ContactRow> {
  const found = await findContact(ctx.db, ctx.caller.accountId, ref)
  if (!found) throw contactUnknown()
  return found
}

export async function holdContact(ctx: Ctx, ref: ContactRef): Promise<ContactRow> {
  const found = await lockContact(ctx.db, ctx.caller.accountId, ref)
  if (!found) throw contactUnknown()
  return found
}
