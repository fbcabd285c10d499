import { normalDomain } from '../../kernel/email-address.ts'
import { invalidParameter } from '../../kernel/refusals.ts'

// The hosts of the records to publish stand below it, and a name has 253 characters at most.
const longest = 220
const topLevel = /\.([a-z]{2,63}|xn--[a-z0-9-]{2,59})$/
// Names that no public resolver answers for (RFC 6761, RFC 6762, RFC 7686, ICANN's internal).
const notPublic = /\.(localhost|local|internal|invalid|onion|arpa|lan|home|corp)$/

/** The domain in the form it is stored in; undefined when no public domain can be called so. */
export function normalName(given: string): string | undefined {
  const name = normalDomain(given.trim())
  const isPublic =
    name !== undefined && topLevel.test(name) && !notPublic.test(name) && name.length <= longest
  return isPublic ? name : undefined
}

export function readName(given: string, param = 'domain'): string {
  const name = normalName(given)
  if (name !== undefined) return name
  throw invalidParameter({
    message: `${param} must be a public domain name such as mail.example.com`,
    param,
    hint: hintFor(given.trim().toLowerCase()),
  })
}

function hintFor(given: string): string {
  if (/[/:@?#]/.test(given)) return 'Give the name alone, without http://, path or mailbox.'
  if (notPublic.test(given) || !given.includes('.')) return 'No public resolver answers for this name.'
  if (given.length > longest) return `It may have ${longest} characters: records are published below it.`
  if (/^[\d.]+$/.test(given)) return 'This is an address, not a name: mail is authenticated by name.'
  if (given.split('.').some((label) => label.length > 63))
    return 'No part of it may have more than 63 characters.'
  return 'A name has letters, digits and hyphens in its parts, no other characters such as _.'
}
