import type { Dns } from '../../../kernel/ports.ts'
import { type Reading, reading, unreadable } from './reading.ts'

export type TokenWanted = { host: string; value: string }

/** A text, among any others, that shows whose the domain is. */
export async function readToken(dns: Dns, { host, value }: TokenWanted): Promise<Reading> {
  const texts = await dns.txt(host)
  const publish = `Publish a TXT record at ${host} with the value ${value}`
  if (texts === 'unreadable') return unreadable('TXT', host)
  if (texts === 'none') return reading('missing', `${host} has no TXT record. ${publish}`)
  const exact = texts.filter((text) => text.trim() === value)
  if (exact.length > 0) return reading('ok', `${host} carries the value of this account.`, exact)
  const kind = value.slice(0, value.indexOf('=') + 1)
  const others = kind === '' ? [] : texts.filter((text) => text.trim().startsWith(kind))
  return others.length > 0
    ? reading('mismatch', `${host} carries another value than this account's. ${publish}`, others)
    : reading('missing', `None of the TXT records of ${host} carries the value. ${publish}`, texts)
}
