import type { Dns } from '../../../kernel/ports.ts'
import { mxText } from './read-mx.ts'
import { type Reading, reading, unreadable } from './reading.ts'

const refused = 'many receivers refuse mail from a domain that takes none itself'
const publish = 'Publish an MX record that names its mail server.'

/** Whether mail to the domain can arrive. */
export async function readMailHost(dns: Dns, domain: string): Promise<Reading> {
  const asked = dns.addresses(domain)
  const records = await dns.mx(domain)
  if (records === 'unreadable') return unreadable('MX', domain)
  if (records !== 'none') {
    const found = records.map(mxText)
    return records.every(({ exchange }) => exchange === '' || exchange === '.')
      ? reading('mismatch', `${domain} says that it takes no mail (MX "0 ."); ${refused}. ${publish}`, found)
      : reading('ok', `${domain} takes mail.`, found)
  }
  const addresses = await asked
  if (addresses === 'unreadable') return unreadable('address', domain)
  if (addresses === 'none')
    return reading('missing', `${domain} has neither an MX record nor an address; ${refused}. ${publish}`)
  const read = reading('ok', `${domain} has no MX record; its address takes the mail.`, addresses)
  read.remarks.push({
    code: 'no_mx',
    message: `${domain} has no MX record. Publish one that names its mail server.`,
  })
  return read
}
