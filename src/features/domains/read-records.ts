// Asks public DNS for every record, all at once.
import type { Dns } from '../../kernel/ports.ts'
import { storable } from '../../kernel/v3/lenient.ts'
import { type Facts, keyOf, type Wanted } from './model.ts'
import { readCname } from './reading/read-cname.ts'
import { readDkim } from './reading/read-dkim.ts'
import { readDmarc } from './reading/read-dmarc.ts'
import { readMailHost } from './reading/read-mail-host.ts'
import { readMx } from './reading/read-mx.ts'
import { readSpf } from './reading/read-spf.ts'
import { readToken } from './reading/read-token.ts'
import type { Reading } from './reading/reading.ts'

export type Read = Reading & { facts: Facts }
export type ReadRecords = (records: Wanted[]) => Promise<Map<string, Read>>

/** A record that was asked for once is not asked for again. */
export function openReader(dns: Dns, domain: string): ReadRecords {
  const asked = new Map<string, Promise<Read>>()
  const ask = (record: Wanted) => {
    const key = keyOf(record)
    const reading = asked.get(key) ?? readRecord(dns, domain, record).then(storableReading)
    asked.set(key, reading)
    return reading
  }
  return async (records) =>
    new Map(await Promise.all(records.map(async (one) => [keyOf(one), await ask(one)] as const)))
}

async function readRecord(dns: Dns, domain: string, record: Wanted): Promise<Read> {
  const { role, type, host, value } = record
  if (type === 'CNAME') return plain(await readCname(dns, { host, target: value }))
  if (type === 'MX') return plain(await readExchange(dns, domain, record))
  if (role === 'spf') return readSpfRecord(dns, record)
  if (role === 'dmarc') return readDmarcRecord(dns, domain)
  if (role === 'dkim') return plain(await readDkimRecord(dns, record))
  return readVerification(dns, domain, record)
}

const plain = (reading: Reading): Read => ({ ...reading, facts: {} })

function readDkimRecord(dns: Dns, { host, value }: Wanted): Promise<Reading> {
  const [selector = '', domain = ''] = host.split('._domainkey.')
  const publicKey = /(?:^|;)\s*p=([^;]*)/.exec(value)?.[1]?.replaceAll(/\s/g, '') ?? ''
  return readDkim(dns, { domain, selector, publicKey })
}

async function readSpfRecord(dns: Dns, { host, value }: Wanted): Promise<Read> {
  const named = (term: RegExp) => [...value.matchAll(term)].map(([, name = '']) => name)
  const wanted = { domain: host, include: named(/ include:(\S+)/g), ip: named(/ ip[46]:(\S+)/g) }
  const { lookups, policy, paste, ...reading } = await readSpf(dns, wanted)
  return { ...reading, facts: { lookups, policy, paste } }
}

async function readDmarcRecord(dns: Dns, domain: string): Promise<Read> {
  const { policy, foundAt, alignment, organisation, ...reading } = await readDmarc(dns, domain)
  return { ...reading, facts: { policy, foundAt, alignment, organisation } }
}

/** The one record that every domain has, so it is here that the domain itself is looked at. */
async function readVerification(dns: Dns, domain: string, { host, value }: Wanted): Promise<Read> {
  const asked = readMailHost(dns, domain)
  const reading = await readToken(dns, { host, value })
  const { state, found, explanation } = await asked
  if (state === 'unreadable') return plain(reading)
  const mailHost = { state, found: found.map(storable), explanation: storable(explanation) }
  return { ...reading, facts: { mailHost } }
}

/** A domain that takes its mail elsewhere needs no other place for it. */
async function readExchange(dns: Dns, domain: string, { host, value }: Wanted): Promise<Reading> {
  const [, priority = '10', exchange = ''] = /^(\d+)\s+(\S+)$/.exec(value) ?? []
  const reading = await readMx(dns, { host, exchange, priority: Number(priority) })
  const hasOther = reading.state === 'mismatch' || reading.state === 'multiple'
  if (host !== domain || !hasOther) return reading
  return { ...reading, state: 'ok', explanation: 'The domain takes mail elsewhere, which serves as well.' }
}

/** A record may hold anything. */
function storableReading(read: Read): Read {
  return {
    ...read,
    found: read.found.map(storable),
    explanation: storable(read.explanation),
    remarks: read.remarks.map(({ code, message }) => ({ code, message: storable(message) })),
  }
}
