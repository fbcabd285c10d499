import type { Dns, MxRecord } from '../../../kernel/ports.ts'
import { normalName, quoted, type Reading, reading, unreadable } from './reading.ts'

/** `host` is to have this one mail server and no other. */
export type MxWanted = { host: string; exchange: string; priority?: number }

export async function readMx(dns: Dns, { host, exchange, priority }: MxWanted): Promise<Reading> {
  const records = await dns.mx(host)
  const wanted = `${priority ?? 10} ${normalName(exchange)}`
  const publish = `Publish one MX record at ${host} with the value ${wanted}.`
  if (records === 'unreadable') return unreadable('MX', host)
  if (records === 'none') return reading('missing', `${host} has no MX record. ${publish}`)
  const found = records.map(mxText)
  if (found.length > 1)
    return reading(
      'multiple',
      `${host} has ${found.length} MX records; only ${wanted} may stand there.`,
      found,
    )
  const [record] = records
  const [text = ''] = found
  if (!record || normalName(record.exchange) !== normalName(exchange))
    return reading(
      'mismatch',
      `The mail server of ${host} is ${quoted(text)}, not ${wanted}. ${publish}`,
      found,
    )
  const read = reading('ok', `The mail server of ${host} is ${exchange}.`, found)
  if (priority !== undefined && record.priority !== priority)
    read.remarks.push({
      code: 'other_priority',
      message: `The priority is ${record.priority} instead of ${priority}, which changes nothing for a single record.`,
    })
  return read
}

export function mxText({ exchange, priority }: MxRecord): string {
  return `${priority} ${exchange === '' ? '.' : exchange}`
}
