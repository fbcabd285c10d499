// Whether mailbox providers can tell that a message is its sender's: by what is stored of each domain. Asks no DNS.
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import type { DomainState } from '../domains/domain-states.ts'
import type { RecordState } from '../domains/model.ts'
import { normalName } from '../domains/name.ts'
import { showRecord } from '../domains/show-domain.ts'
import type { Finding, Severity } from './finding.ts'
import { countSenderDomains } from './queries.ts'
import { requestOf } from './requests.ts'

const area = 'authentication'
const sampled = 1_000

export async function findAuthentication(ctx: Ctx, domains: DomainState[]): Promise<Finding[]> {
  return [...(await undeclared(ctx, domains)), ...domains.flatMap((one) => aboutDomain(ctx, one))]
}

/** Addresses that are sent from, or would be, on domains that nobody declared: signed by nobody. */
async function undeclared(ctx: Ctx, domains: DomainState[]): Promise<Finding[]> {
  const used = await countSenderDomains(ctx.db, ctx.caller.accountId, sampled)
  const counts = new Map(used.map(({ domain, messages }) => [domain, messages]))
  const { default_sender } = await readSettings(ctx)
  const usual = default_sender && domainOf(default_sender.email)
  if (usual && !counts.has(usual)) counts.set(usual, 0)
  for (const { domain } of domains) counts.delete(domain)
  const total = used.reduce((sum, { messages }) => sum + messages, 0)
  return [...counts].map(([domain, messages]) => ({
    code: 'from_domain_undeclared',
    severity: 'critical',
    area,
    domain,
    message:
      `Messages from ${domain} carry no DKIM signature of it and fail DMARC: it is not declared. ` +
      'Large providers refuse or mistrust them.',
    evidence: { messages, of_last: total, is_default_sender: domain === usual },
    // What no public resolver answers for cannot be declared: only another sender helps.
    action: normalName(domain) ? requestOf(ctx, 'domain.declare', { body: { domain } }) : null,
    proof: requestOf(ctx, 'deliverability.diagnose'),
  }))
}

function aboutDomain(ctx: Ctx, state: DomainState): Finding[] {
  const { domain } = state
  const mending = {
    area,
    domain,
    action: requestOf(ctx, 'domain.verify', { body: { domain } }),
    proof: requestOf(ctx, 'domain.dns', { in: { domain } }),
  } as const
  return [
    ...unverified(state).map((found) => ({ ...mending, ...found })),
    ...unaligned(state).map((found) => ({ ...mending, ...found })),
    ...withoutMail(state).map((found) => ({ ...mending, ...found })),
    ...state.records
      .flatMap((record) => aboutRecord(state, record))
      .map((found) => ({ ...mending, ...found })),
  ]
}

type Found = Pick<Finding, 'code' | 'severity' | 'message' | 'evidence'>

const iso = (at: Date | null) => at?.toISOString() ?? null

function unverified({ domain, status, createdAt, verifiedAt, checkedAt, records }: DomainState): Found[] {
  if (status === 'verified') return []
  const required = records.filter((one) => one.required)
  const wrong = required.filter(({ known }) => known !== null && known !== 'ok').length
  const unread = required.filter(({ known }) => known === null).length
  const was = verifiedAt ? 'was verified and is no longer' : 'is not verified yet'
  return [
    {
      code: 'domain_not_verified',
      severity: 'critical',
      message: `${domain} ${was}: publish the records that domain.dns shows, then verify it.`,
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
function unaligned({ domain, dkim, spf, dmarc, records }: DomainState): Found[] {
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

/** Answers and bounces to From would have nowhere to go, and receivers look at that. */
function withoutMail({ domain, records }: DomainState): Found[] {
  const told = records.find(({ role }) => role === 'verification')?.facts.mailHost
  if (!told || told.state === 'ok') return []
  const { state, found, explanation } = told
  const code = state === 'missing' ? 'mx_missing' : 'mx_null'
  return [{ code, severity: 'warning', message: explanation, evidence: { host: domain, found } }]
}

const weights: Partial<Record<RecordState['role'], Severity>> = {
  dkim: 'critical',
  spf: 'warning',
  dmarc: 'warning',
}

/** Records that are right, and yet of little use. */
const remarked: Record<string, Severity> = { spf_plus_all: 'warning', dkim_testing: 'warning' }

function remarksOn(record: RecordState): Found[] {
  const { role, host, found } = showRecord(record)
  return record.remarks.flatMap(({ code, message }) => {
    const severity = remarked[`${role}_${code}`]
    if (!severity) return []
    return [{ code: `${role}_${code}`, severity, message: `${host}: ${message}`, evidence: { host, found } }]
  })
}

/** `dkim_missing`, `spf_multiple`, `dmarc_unreadable` and so on. The last known state counts while DNS is silent. */
function aboutRecord({ dkim }: DomainState, record: RecordState): Found[] {
  const state = record.known ?? 'unreadable'
  const isSpare =
    record.role === 'verification' || record.retired || (record.role === 'dkim' && dkim.state === 'ok')
  if (state === 'ok' && !record.retired) return remarksOn(record)
  if (state === 'ok' || isSpare) return []
  const { role, host, type, value, found, explanation } = showRecord(record)
  const isOld = record.state === 'unreadable' && state !== 'unreadable'
  const severity = state === 'unreadable' || !record.required ? 'info' : (weights[role] ?? 'info')
  return [
    {
      code: `${role}_${state}`,
      severity,
      message: `${host}: ${isOld ? `${state} when DNS last answered. ` : ''}${explanation}`,
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
