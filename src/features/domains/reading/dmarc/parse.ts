// The text of a DMARC record (RFC 9989 §4.7, §4.8, §4.10.1).
import { quoted, type Remark } from '../reading.ts'
import { readTags } from '../tags.ts'

export type DmarcPolicy = 'none' | 'quarantine' | 'reject'

export type DmarcRecord = {
  text: string
  p: DmarcPolicy
  sp: DmarcPolicy | null
  np: DmarcPolicy | null
  alignment: { dkim: 'r' | 's'; spf: 'r' | 's' }
  psd: 'y' | 'n' | 'u'
  isTest: boolean
  /** Where aggregate reports go. */
  rua: string[]
  /** A policy that is none; null: all are. */
  fault: string | null
  remarks: Remark[]
}

/** Receivers see only what begins so. */
export const isDmarc = (text: string) => /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text)
/** Meant to be one. */
export const looksLikeDmarc = (text: string) => /dmarc1/i.test(text.slice(0, 1_000))

export function parseDmarc(text: string): DmarcRecord {
  const { of, faults } = readTags(text)
  const policy = (name: string) => policies.find((one) => one === of.get(name)?.toLowerCase()) ?? null
  const bad = ['p', 'sp', 'np'].find((name) => of.has(name) && policy(name) === null)
  const rua = urisOf(of.get('rua'))
  return {
    text,
    p: bad === undefined ? (policy('p') ?? 'none') : 'none',
    sp: bad === undefined ? policy('sp') : null,
    np: bad === undefined ? policy('np') : null,
    alignment: { dkim: modeOf(of.get('adkim')), spf: modeOf(of.get('aspf')) },
    psd: (['y', 'n'] as const).find((one) => one === of.get('psd')?.toLowerCase()) ?? 'u',
    isTest: of.get('t')?.toLowerCase() === 'y',
    rua,
    fault:
      bad === undefined ? null : `${bad}=${quoted(of.get(bad) ?? '')} is none of none, quarantine and reject`,
    remarks: [
      ...faults
        .slice(0, 5)
        .map((message) => ({ code: 'ignored_part', message: `Receivers pass over a part: ${message}.` })),
      ...remarksOf(of, rua),
    ],
  }
}

const policies: DmarcPolicy[] = ['none', 'quarantine', 'reject']
const modeOf = (value: string | undefined) => (value?.toLowerCase() === 's' ? 's' : 'r')
const urisOf = (value = '') =>
  value
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => /^[a-z][a-z0-9+.-]{0,30}:./i.test(uri))

const obsolete = ['pct', 'rf', 'ri']
const valid: [string, RegExp][] = [
  ['adkim', /^[rs]$/i],
  ['aspf', /^[rs]$/i],
  ['psd', /^[ynu]$/i],
  ['t', /^[yn]$/i],
]

function remarksOf(of: ReadonlyMap<string, string>, rua: string[]): Remark[] {
  const remarks: Remark[] = []
  for (const tag of obsolete)
    if (of.has(tag))
      remarks.push({
        code: 'obsolete_tag',
        message: `The tag ${tag} is obsolete since RFC 9989. Take it out.`,
      })
  if (rua.some((uri) => uri.includes('!')))
    remarks.push({
      code: 'obsolete_tag',
      message: 'A size after "!" in rua is obsolete since RFC 9989. Take it out.',
    })
  for (const [tag, form] of valid)
    if (of.has(tag) && !form.test(of.get(tag) ?? ''))
      remarks.push({
        code: 'ignored_part',
        message: `Receivers pass over ${tag}=${quoted(of.get(tag) ?? '')}.`,
      })
  if (!of.has('p'))
    remarks.push({
      code: 'policy_absent',
      message: 'There is no tag p, which some receivers ask for. Write p=none.',
    })
  if (rua.length === 0)
    remarks.push({ code: 'no_reports', message: 'Without a valid address in rua no reports are sent.' })
  return remarks
}
