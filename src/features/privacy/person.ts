// Who it is about: a person is known by their address, or where there is none by a telephone number or the customer's
// own identifier.
import type { Ctx } from '../../kernel/ctx.ts'
import { normalEmail, writtenForms } from '../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import type { ContactRef } from '../contacts/contacts/queries.ts'
import { contactUnknown, readPhone } from '../contacts/contacts/read-ref.ts'
import * as tell from './export-queries.ts'

export type Person = {
  accountId: string
  /** How the contact is found. */
  ref: ContactRef
  /** null: the contact has none, and so there are none in `emails`, but for those it had before. */
  email: string | null
  /** With those that the contact had before. */
  emails: string[]
  /** The addresses, or where there are none the numbers, as a regular expression, for texts that they stand in. */
  pattern: string
  /** What such a text is like, in lower case. */
  likes: string[]
  /** The contact's telephone number first, then those that it had before. */
  phones: string[]
  contactId: string | null
  extId: string | null
}

export type Asked = { email?: string; phone?: string; ext_id?: string }

const oneOf = 'Give one of email, phone and ext_id.'

export function readAsked({ email, phone, ext_id: extId }: Asked): ContactRef {
  const [first, ...others] = [email, phone, extId].filter((given) => given !== undefined)
  if (first === undefined) throw missingParameter({ message: oneOf, param: 'email' })
  if (others.length > 0) throw invalidParameter({ message: oneOf, param: 'email' })
  if (extId !== undefined) return { extId }
  if (email !== undefined) return { email: known(normalEmail(email), 'email', 'an email address') }
  return { sms: known(readPhone(first), 'phone', 'a telephone number with its country') }
}

function known(read: string | undefined, param: string, what: string): string {
  if (read === undefined) throw invalidParameter({ message: `${param} must be ${what}.`, param })
  return read
}

export async function personOf({ db, caller: { accountId } }: Ctx, asked: ContactRef): Promise<Person> {
  const found = await tell.findContact(db, { accountId, ref: asked })
  // Of an address or a number there may be traces without a contact; an identifier is of a contact or of nothing.
  if (found.id === null && 'extId' in asked) throw contactUnknown()
  const email = 'email' in asked ? asked.email : found.email
  const ref = email === null ? asked : { email }
  const formerOf = async (attribute: 'EMAIL' | 'SMS') =>
    (await tell.listFormer(db, { accountId, ref }, attribute)).map(({ value }) => value)
  const emails = [...(email === null ? [] : [email]), ...(await formerOf('EMAIL'))]
  const sms = 'sms' in asked ? asked.sms : found.sms
  const phones = [...(sms === null ? [] : [sms]), ...(await formerOf('SMS'))]
  const searches = emails.length > 0 ? searchesFor(emails) : searchesForPhones(phones)
  return { accountId, ref, email, emails, phones, contactId: found.id, extId: found.ext_id, ...searches }
}

type Searches = Pick<Person, 'pattern' | 'likes'>

function searchesFor(emails: string[]): Searches {
  const forms = emails.flatMap(writtenForms)
  const literals = forms.map((form) =>
    form.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(/\P{ASCII}/gu, inEveryForm),
  )
  // Whole addresses only: ann@example.com does not stand in joann@example.com, nor in ann@example.com.au.
  const pattern = `(?<![a-z0-9!#$%&'*+/=?^_\`{|}~.-])(?:${literals.join('|')})(?![a-z0-9-]|\\.[a-z0-9])`
  const likes = forms.map((form) => form.replaceAll(/[\\%_]/g, '\\$&').replaceAll(/\P{ASCII}+/gu, '%'))
  return { pattern, likes: likes.map((like) => `%${like}%`) }
}

/** Not every database knows the capitals of all letters, and é may be one character or two. */
function inEveryForm(letter: string): string {
  const forms = [letter, letter.toUpperCase()].flatMap((one) => [one.normalize('NFC'), one.normalize('NFD')])
  return `(?:${forms.join('|')})`
}

// Nothing comes before the beginning of a text.
const matchesNothing = 'x^'

/** Digits alone; what is written with blanks in it is found where lines are read one by one. */
function searchesForPhones(phones: string[]): Searches {
  if (phones.length === 0) return { pattern: matchesNothing, likes: [] }
  return { pattern: `(?<![0-9])(?:${phones.join('|')})(?![0-9])`, likes: phones.map((one) => `%${one}%`) }
}
