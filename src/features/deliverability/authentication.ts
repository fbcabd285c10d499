// What is wrong with the domains that the account sends from, and the request that mends it.
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { aboutAuthentication, aboutUndeclared } from '../domains/authentication.ts'
import { obstacleTo } from '../domains/declarable.ts'
import type { DomainState } from '../domains/domain-states.ts'
import { mostDomains } from '../domains/refusals.ts'
import type { Finding } from './finding.ts'
import { countSenderDomains } from './queries.ts'
import { requestOf } from './requests.ts'

const area = 'authentication'
const sampled = 1_000

type Window = { domains: DomainState[]; first: string }

/** `first`: the first day of what is looked at. */
export async function findAuthentication(ctx: Ctx, { domains, first }: Window): Promise<Finding[]> {
  return [...(await undeclared(ctx, { domains, first })), ...domains.flatMap((one) => aboutDomain(ctx, one))]
}

/** Addresses that are sent from, or would be, on domains that nobody declared: signed by nobody. */
async function undeclared(ctx: Ctx, { domains, first }: Window): Promise<Finding[]> {
  const used = await countSenderDomains(ctx.db, ctx.caller.accountId, { newest: sampled, since: first })
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
    evidence: { messages, of_last: total, is_default_sender: domain === usual },
    ...wayOut(ctx, domains, domain, domain === usual ? default_sender : null),
    proof: requestOf(ctx, 'deliverability.diagnose'),
  }))
}

type Sender = { email: string; name?: string | undefined }

/** What cannot be declared is not to be sent from: only another sender helps. */
function wayOut(ctx: Ctx, domains: DomainState[], domain: string, sender: Sender | null) {
  const said = aboutUndeclared(domain)
  const obstacle = obstacleTo(domain)
  if (obstacle) return instead(ctx, domains, `${said} ${obstacle.message}`, sender)
  if (domains.length < mostDomains)
    return { message: said, action: requestOf(ctx, 'domain.declare', { body: { domain } }) }
  const full = `An account has at most ${mostDomains} domains: delete one that is not in use, then declare this one.`
  return { message: `${said} ${full}`, action: null }
}

function instead(ctx: Ctx, domains: DomainState[], why: string, sender: Sender | null) {
  const own = domains.find(({ status }) => status === 'verified')?.domain
  if (own === undefined)
    return { message: `${why} Send from a domain of your own: declare one, and verify it.`, action: null }
  const message = `${why} Send from a domain of your own, such as ${own}.`
  if (!sender) return { message, action: null }
  const email = `${sender.email.split('@')[0]}@${own}`
  return {
    message,
    action: requestOf(ctx, 'settings.update', { body: { default_sender: { ...sender, email } } }),
  }
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
    ...aboutAuthentication(state).map((found) => ({ ...mending, ...found })),
    // Its mail server is none of the records that domain.dns shows.
    ...withoutMail(state).map((found) => ({
      ...mending,
      ...found,
      proof: requestOf(ctx, 'deliverability.diagnose', { query: { domain } }),
    })),
  ]
}

type Found = Pick<Finding, 'code' | 'severity' | 'message' | 'evidence'>

/** Answers and bounces to From would have nowhere to go, and receivers look at that. */
function withoutMail({ domain, records }: DomainState): Found[] {
  const told = records.find(({ role }) => role === 'verification')?.facts.mailHost
  if (!told || told.state === 'ok') return []
  const { state, found, explanation } = told
  const code = state === 'missing' ? 'mx_missing' : 'mx_null'
  return [
    {
      code,
      severity: 'warning',
      message: `${explanation} Then have it read with domain.verify.`,
      evidence: { host: domain, found },
    },
  ]
}
