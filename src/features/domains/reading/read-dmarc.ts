import type { Dns } from '../../../kernel/ports.ts'
import { type DmarcPolicy, type DmarcRecord, isDmarc, looksLikeDmarc, parseDmarc } from './dmarc/parse.ts'
import { unauthorisedReports } from './dmarc/reports.ts'
import { organisationOf, prevailing, type Step, type Walk, walk } from './dmarc/walk.ts'
import { normalName, quoted, type Reading, type Remark, reading, unreadable } from './reading.ts'

export type { DmarcPolicy } from './dmarc/parse.ts'

export type DmarcReading = Reading & {
  /** What receivers are asked to do with mail of this very domain that fails. */
  policy: DmarcPolicy | null
  /** The domain whose record counts; null: there is none. */
  foundAt: string | null
  alignment: { dkim: 'r' | 's'; spf: 'r' | 's' }
  /** The organisational domain. */
  organisation: string
}

export async function readDmarc(dns: Dns, given: string): Promise<DmarcReading> {
  const domain = normalName(given)
  const places = [`_dmarc.${domain}.${domain}`, domain]
  const elsewhere = places.map(async (place) => ({ place, texts: await dns.txt(place) }))
  const exists = dns.exists(domain)
  const steps = await walk(dns, domain)
  const step = prevailing(steps)
  const organisation = organisationOf(steps)
  const fault = bad(steps, step)
  const record = step?.record
  if (!record || fault?.state === 'unreadable')
    return { ...(fault ?? (await missing(domain, elsewhere))), ...nothing, organisation }
  const policy = policyFor(record, step === steps[0] ? 'own' : (await exists) === false ? 'nowhere' : 'below')
  const facts = { policy, foundAt: step.domain, alignment: record.alignment, organisation }
  if (fault) return { ...fault, ...facts }
  const remarks = [
    ...remarksOf(domain, step, record, policy),
    ...record.remarks,
    ...(await unauthorisedReports(dns, record, step.domain, organisation)),
  ]
  return { ...judge(domain, step, record, policy), ...facts, remarks }
}

const nothing: Pick<DmarcReading, 'policy' | 'foundAt' | 'alignment'> = {
  policy: null,
  foundAt: null,
  alignment: { dkim: 'r', spf: 'r' },
}

/** What makes the answer certain to be another than a good record. */
function bad(steps: Walk, step: Step | null): Reading | null {
  const [own] = steps
  const host = `_dmarc.${own.domain}`
  const meant = own.texts.filter(looksLikeDmarc)
  if (own.isUnreadable) return unreadable('DMARC', host)
  if (own.isAmbiguous) return several(host, own)
  if (!own.record && meant[0] !== undefined)
    return reading(
      'invalid',
      `The record of ${host} must begin with v=DMARC1; and does not: ${quoted(meant[0])}.`,
      meant,
    )
  const silent = own.record ? undefined : steps.find(({ isUnreadable }) => isUnreadable)
  if (silent) return unreadable('DMARC', `_dmarc.${silent.domain}`)
  const ambiguous = step ? undefined : steps.find(({ isAmbiguous }) => isAmbiguous)
  return ambiguous ? several(`_dmarc.${ambiguous.domain}`, ambiguous) : null
}

function several(host: string, { texts }: Step): Reading {
  const found = texts.filter(isDmarc)
  const all = found.slice(0, 5).map(quoted).join(' and ')
  return reading(
    'multiple',
    `${host} has ${found.length} DMARC records, and receivers then use none: ${all}. Keep one.`,
    found,
  )
}

type Elsewhere = Promise<{ place: string; texts: string[] | string }>[]

async function missing(domain: string, elsewhere: Elsewhere): Promise<Reading> {
  const host = `_dmarc.${domain}`
  const answers = await Promise.all(elsewhere)
  const found = answers.map(({ texts }) => (Array.isArray(texts) ? texts.filter(isUsable) : []))
  const place = answers.find((_, i) => found[i]?.length)?.place
  if (place === undefined)
    return reading(
      'missing',
      `There is no DMARC record for ${domain}. Publish a TXT record at ${host} with the value v=DMARC1; p=none`,
    )
  return reading(
    'missing',
    `A DMARC record stands at ${place}, where nobody looks. Move it to ${host}.`,
    found.flat(),
  )
}

/** Moved to its place it would count. */
const isUsable = (text: string) => isDmarc(text) && parseDmarc(text).fault === null

/** `sp` and `np` are for what lies below the record (RFC 9989 §4.10.1); a test (t=y) asks for one step less. */
function policyFor(record: DmarcRecord, place: 'own' | 'below' | 'nowhere'): DmarcPolicy | null {
  if (record.fault !== null && record.rua.length === 0) return null
  const { p, sp, np } = record
  const asked = place === 'own' ? p : ((place === 'nowhere' ? np : null) ?? sp ?? p)
  if (!record.isTest) return asked
  return asked === 'reject' ? 'quarantine' : 'none'
}

function judge(domain: string, step: Step, record: DmarcRecord, policy: DmarcPolicy | null): Reading {
  const host = `_dmarc.${step.domain}`
  const found = [record.text]
  if (record.fault !== null)
    return reading(
      'invalid',
      `In the DMARC record of ${host} ${record.fault}, so that it protects nothing. Correct it.`,
      found,
    )
  return step.domain === domain
    ? reading('ok', `${host} asks receivers for the policy ${policy}.`, found)
    : reading(
        'ok',
        `${domain} has no DMARC record of its own; that of ${host} counts and asks for ${policy}.`,
        found,
      )
}

function remarksOf(
  domain: string,
  step: Step,
  { isTest }: DmarcRecord,
  policy: DmarcPolicy | null,
): Remark[] {
  const remarks: Remark[] = []
  if (step.domain !== domain)
    remarks.push({
      code: 'inherited',
      message: `The record was found at _dmarc.${step.domain}. One at _dmarc.${domain} leaves no doubt.`,
    })
  if (policy === 'none')
    remarks.push({
      code: 'policy_none',
      message: 'The policy none asks receivers for nothing: mail that fails is delivered.',
    })
  if (isTest)
    remarks.push({
      code: 'testing',
      message: 'The tag t=y lowers the policy by one step. Take it out when mail passes.',
    })
  return remarks
}
