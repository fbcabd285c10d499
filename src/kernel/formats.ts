// The formats that schemas name. Declared once, for requests as well as for replies.
import type { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { readAddress, readEmail } from './email-address.ts'

export function addAllFormats(ajv: Ajv): Ajv {
  addFormats.default(ajv)
  // Stricter than the library's: what passes here can stand in an envelope and in a header.
  ajv.addFormat('email', (text: string) => readEmail(text) !== undefined)
  ajv.addFormat('mailbox', (text: string) => !('fault' in readAddress(text)))
  return ajv.addFormat('time-zone', isTimeZone)
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** What a format asks for, to follow "must be". */
export const formatWords: Record<string, string> = {
  'date-time': 'an ISO 8601 time with a zone, such as 2026-11-15T09:30:00Z',
  date: 'a date such as 2026-11-15',
  email: 'an email address',
  mailbox: 'an email address, or a name and an address such as Anna <anna@example.com>',
  'time-zone': 'the IANA name of a time zone, such as Europe/Paris',
  uri: 'an absolute address such as https://example.com/page',
  uuid: 'a UUID',
}
