// Whether mailbox providers can tell that a message is its sender's: by what is stored of a domain. Asks no DNS.
import type { DomainState } from './domain-states.ts'
import type { RecordState } from './model.ts'
import { showRecord } from './show-domain.ts'

type Severity = 'info' | 'warning' | 'critical'

export type AuthenticationFinding = {
  code: string
  severity: Severity
  message: string
  evidence: Record<string, unknown>
}

export function aboutAuthentication(state: DomainState): AuthenticationFinding[] {
  return [
    ...unverified(state),
    ...unaligned(state),
    ...state.records.flatMap((record) => aboutRecord(state, record)),
  ]
}

/** Of a domain that is sent from and that the account has not declared: no key signs for it. */
export const aboutUndeclared = (domain: string) =>
  `Messages from ${domain} carry no DKIM signature of it and fail DMARC: it is not declared. ` +
  'Large providers refuse or mistrust them.'

const iso = (at: Date | null) => at?.toISOString() ?? null

function unverified({
  domain,
  status,
  createdAt,
  verifiedAt,
  checkedAt,
  records,
  notReady,
}: DomainState): AuthenticationFinding[] {
  if (status === 'verified') return []
  const required = records.filter((one) => one.required)
  const wrong = required.filter(({ known }) => known !== null && known !== 'ok').length
  const unread = required.filter(({ known }) => known === null).length
  const was = verifiedAt ? 'was verified and is no longer' : 'is not verified yet'
  const waits = notReady !== null && wrong + unread === 0
  const todo = waits
    ? `its records are there, and the upstream does not send for it. ${notReady} Verify it again later.`
    : 'publish the records that domain.dns shows, then verify it.'
  return [
    {
      code: 'domain_not_verified',
      severity: 'critical',
      message: `${domain} ${was}: ${todo}`,
      evidence: {
        status,
        records_to_mend: wrong,
        ...(unread > 0 && { records_unread: unread }),
        declared_at: iso(createdAt),
        verified_at: iso(verifiedAt),
        checked_at: iso(checkedAt),
      },
    },
  ]
}

/** DMARC asks that the domain of From is the one that DKIM signs for, or the one of the envelope that SPF allows. */
function unaligned({ domain, dkim, spf, dmarc, records }: DomainState): AuthenticationFinding[] {
  const bounce = records.find(({ role }) => role === 'return_path')
  const mode = dmarc.facts.alignment?.spf ?? 'r'
  // Without a return path of its own the envelope has the domain of From itself.
  const isEnvelopeAligned = !bounce || (bounce.known === 'ok' && (mode === 'r' || bounce.host === domain))
  const isAligned = dkim.state === 'ok' || (spf.state === 'ok' && isEnvelopeAligned)
  // What DNS did not answer for says nothing: it may well be aligned.
  const isUnknown = dkim.state === null || (spf.state === null && isEnvelopeAligned) || bounce?.known === null
  if (isAligned || isUnknown) return []
  return [
    {
      code: 'from_not_aligned',
      severity: 'critical',
      message:
        `Neither DKIM nor SPF speaks for ${domain}, the domain of From, so DMARC fails for every message: ` +
        'publish the DKIM record, then verify.',
      evidence: {
        dkim: dkim.state,
        spf: spf.state,
        return_path: bounce?.known ?? null,
        spf_alignment: mode === 's' ? 'strict' : 'relaxed',
      },
    },
  ]
}

const weights: Partial<Record<RecordState['role'], Severity>> = {
  dkim: 'critical',
  spf: 'warning',
  dmarc: 'warning',
}

/** Records that are right, and yet of little use. */
const remarked: Record<string, Severity> = { spf_plus_all: 'warning', dkim_testing: 'warning' }

function remarksOn(record: RecordState): AuthenticationFinding[] {
  const { role, host, found } = showRecord(record)
  return record.remarks.flatMap(({ code, message }) => {
    const severity = remarked[`${role}_${code}`]
    if (!severity) return []
    return [{ code: `${role}_${code}`, severity, message: named(host, message), evidence: { host, found } }]
  })
}

/** Most explanations name the host themselves. */
const named = (host: string, text: string) => (text.includes(host) ? text : `${host}: ${text}`)

/** `dkim_missing`, `spf_multiple`, `dmarc_unreadable` and so on. The last known state counts while DNS is silent. */
function aboutRecord({ dkim }: DomainState, record: RecordState): AuthenticationFinding[] {
  const state = record.known ?? 'unreadable'
  const isSigned = record.role === 'dkim' && dkim.state === 'ok'
  const isSpare = record.role === 'verification' || record.retired || (isSigned && !record.required)
  if (state === 'ok' && !record.retired) return remarksOn(record)
  if (state === 'ok' || isSpare) return []
  const { role, host, type, value, found, explanation } = showRecord(record)
  const isOld = record.state === 'unreadable' && state !== 'unreadable'
  const weight = isSigned ? 'warning' : (weights[role] ?? 'info')
  const severity = state === 'unreadable' || !record.required ? 'info' : weight
  return [
    {
      code: `${role}_${state}`,
      severity,
      message: isOld ? `${host}: ${state} when DNS last answered. ${explanation}` : named(host, explanation),
      evidence: {
        publish: { host, type, value },
        found,
        records_found: found.length,
        ...(record.facts.lookups === undefined ? {} : { lookups: record.facts.lookups }),
        known_at: record.knownAt,
      },
    },
  ]
}
