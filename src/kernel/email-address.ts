// Addresses are read, checked and brought into one form here and nowhere else.
import { domainToASCII, domainToUnicode } from 'node:url'

export type Address = { email: string; name?: string }

// RFC 5321 4.5.3.1: local part 64, path 256 with its brackets.
const longestLocal = 64
const longestEmail = 254
const local = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const control = /[\u0000-\u001f\u007f\u2028\u2029]/

/** The address with its domain in ASCII form, or undefined when it is none. The local part keeps its letters. */
export function readEmail(given: string): string | undefined {
  const at = given.lastIndexOf('@')
  const [name, domain] = [given.slice(0, at), normalDomain(given.slice(at + 1))]
  if (at < 1 || name.length > longestLocal || !local.test(name) || domain === undefined) return undefined
  const email = `${name}@${domain}`
  return email.length > longestEmail ? undefined : email
}

/** The form that suppressions, recipients and contacts are compared by. */
export function normalEmail(given: string): string | undefined {
  return readEmail(given.trim())?.toLowerCase()
}

// What the converter would give back as it is: converting is dear, and nearly all domains look like this.
const plain = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,10}[a-z]{2,20}$/

// The converter reads a host out of an address, and a number as the address of a machine: what only resembles a
// domain would pass for another one.
const notOfNames = /[/\\?#:@%\s]/
const number = /^\d+$/

// Some characters are left out of the ASCII form, but not that many; the converter takes the square of the length.
const longestWritten = 1_000

/** Lower case and ASCII; undefined when it is no domain name with at least two labels. */
export function normalDomain(given: string): string | undefined {
  if (plain.test(given)) return given.length <= 253 ? given : undefined
  if (given.length > longestWritten || notOfNames.test(given)) return undefined
  const ascii = domainToASCII(given.replace(/\.$/, '')).toLowerCase()
  const labels = ascii.split('.')
  const isNamed =
    labels.length > 1 && labels.every((part) => label.test(part)) && !number.test(labels.at(-1) ?? '')
  return isNamed && ascii.length <= 253 ? ascii : undefined
}

/** The ways in which it may stand in a text: an international domain also has a form that people read. */
export function writtenForms(email: string): string[] {
  const at = email.lastIndexOf('@') + 1
  const shown = email.slice(0, at) + domainToUnicode(email.slice(at))
  return shown === email ? [email] : [email, shown]
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase()
}

/** `Name <a@b>`, `a@b` or an object of both. Gives a sentence about what is wrong instead. */
export function readAddress(given: string | Address): Address | { fault: string } {
  const { email, name } = typeof given === 'string' ? splitAddress(given) : given
  if (name !== undefined && (control.test(name) || !name.isWellFormed())) {
    return { fault: 'has a name with control characters' }
  }
  const read = readEmail(email.trim())
  if (read === undefined)
    return { fault: `must be an email address, not ${JSON.stringify(email.slice(0, 80))}` }
  return name?.trim() ? { email: read, name: name.trim() } : { email: read }
}

// Step by step: one expression for all of it would take minutes over a text of blanks.
function splitAddress(given: string): Address {
  const text = given.trim()
  const start = text.lastIndexOf('<')
  const email = text.slice(start + 1, -1)
  if (start < 0 || !text.endsWith('>') || email.includes('>')) return { email: given }
  const before = text.slice(0, start).trim()
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(before)?.[1]
  if (quoted !== undefined) return { email, name: quoted.replaceAll(/\\(.)/g, '$1') }
  return /[<>"]/.test(before) ? { email: given } : { email, name: before }
}
