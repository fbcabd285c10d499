// What a domain has to publish with the transport in use.
import type { OwnKey, Subject, Wanted } from './model.ts'

/** Who sends, where the upstream does not say: names to include, addresses. */
export type SpfSetting = { include: string[]; ip: string[] }

const dayMs = 86_400_000
/** Messages that were signed with a key are checked for as long as they may be under way. */
export const retiredKeptMs = 7 * dayMs
const longestString = 255

export function wantedRecords(subject: Subject, spf: SpfSetting): Wanted[] {
  const { domain, token, upstream } = subject
  const sending = upstream ? upstream.records : [...keyRecords(subject), spfRecord(domain, spf)]
  const records = [...sending, ...(sending.some(({ role }) => role === 'dmarc') ? [] : [dmarcRecord(domain)])]
  return [...records.map(withSplitNote), verificationRecord(domain, token, upstream !== null)]
}

/** The one that signs first. */
function keyRecords({ domain, keys }: Subject): Wanted[] {
  return (['current', 'next', 'retired'] as const).flatMap((stage) =>
    keys.filter((key) => key.stage === stage).map(keyRecord(domain)),
  )
}

const keyRecord =
  (domain: string) =>
  ({ selector, publicKey, stage, retiredAt, signs }: OwnKey): Wanted => ({
    role: 'dkim',
    type: 'TXT',
    host: `${selector}._domainkey.${domain}`,
    value: `v=DKIM1; k=rsa; p=${publicKey}`,
    required: stage === 'current',
    ...(stage === 'next' && { note: nextNote }),
    ...(retiredAt && (signs ? { note: spareNote } : { note: retiredNote(retiredAt), retired: true })),
  })

const nextNote = 'The new key of a rotation: messages are signed with the old one until this record is seen.'

const spareNote = 'This key signs again: DNS shows it, and not the one that took over.'

function retiredNote(retiredAt: Date): string {
  const until = new Date(retiredAt.getTime() + retiredKeptMs).toISOString().slice(0, 10)
  return `This key no longer signs. Keep its record until ${until} for messages under way, then it can be removed.`
}

function spfRecord(domain: string, { include, ip }: SpfSetting): Wanted {
  const named = [...include.map((name) => `include:${name}`), ...ip.map(ipTerm)]
  const record = { role: 'spf', type: 'TXT', host: domain } as const
  if (named.length > 0) return { ...record, value: spfOf(named), required: true }
  return {
    ...record,
    value: spfOf(['a', 'mx']),
    required: false,
    note: 'This installation does not say which hosts send for it: name those of your relay as well.',
  }
}

const spfOf = (terms: string[]) => ['v=spf1', ...terms, '~all'].join(' ')
const ipTerm = (address: string) => `${address.includes(':') ? 'ip6' : 'ip4'}:${address}`

function dmarcRecord(domain: string): Wanted {
  return { role: 'dmarc', type: 'TXT', host: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', required: true }
}

/** With a key of the account's own, that key is the proof and the token another way to it. */
function verificationRecord(domain: string, token: string, required: boolean): Wanted {
  return { role: 'verification', type: 'TXT', host: `_posthorn-challenge.${domain}`, value: token, required }
}

function withSplitNote(record: Wanted): Wanted {
  if (record.type !== 'TXT' || record.value.length <= longestString) return record
  const split =
    `The value is longer than ${longestString} characters: where your DNS service does not split it by itself, ` +
    `put it into one record as several strings of at most ${longestString}, such as "v=DKIM1; … " "…", ` +
    'which are read as one.'
  return { ...record, note: [record.note, split].filter(Boolean).join(' ') }
}
