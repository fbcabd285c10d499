// Whether receivers can tell that the message is its sender's. A declared domain is judged as the diagnosis does, by
// its records as last read; one that is not by what DNS shows now, and by nothing signing for it.
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import type { Dns } from '../../kernel/ports.ts'
import type { Action } from '../../kernel/refusal.ts'
import { aboutAuthentication, aboutUndeclared } from '../domains/authentication.ts'
import { declaring } from '../domains/declarable.ts'
import { type DomainState, findDomainState } from '../domains/domain-states.ts'
import { isMailboxProvider } from '../domains/mailbox-providers.ts'
import { readDmarc } from '../domains/reading/read-dmarc.ts'
import { readSpf } from '../domains/reading/read-spf.ts'
import type { State } from '../domains/reading/reading.ts'
import type { SpfSetting } from '../domains/wanted-records.ts'
import { withinLook } from '../domains/within-look.ts'
import type { Looked } from './find-blocking.ts'
import { type Warning, warnIf } from './warning.ts'

const param = 'from'

/** `spf`: who sends, where that is known. */
export type DnsNeeds = { dns: Dns; spf: SpfSetting }

export async function aboutSender(ctx: Ctx, needs: DnsNeeds, { from }: Looked): Promise<Warning[]> {
  if (!from) return []
  const domain = domainOf(from.email)
  const state = await findDomainState(ctx.db, ctx.caller.accountId, domain)
  if (state) return ofDeclared(state)
  return isMailboxProvider(domain) ? [ofProvider(domain)] : ofUndeclared(needs, domain)
}

/** Not for anybody to declare here. */
const ofProvider = (domain: string): Warning => ({
  code: 'domain_not_authenticated',
  message: `${domain} belongs to its provider, and only mail from there is signed for it: others refuse the rest.`,
  param,
  hint: 'Send from a domain of your own, and name this address in reply_to.',
})

/** What the diagnosis calls critical is one warning; of what it calls info nothing is said. */
function ofDeclared(state: DomainState): Warning[] {
  const { domain, dkim, dmarc } = state
  const action = verifying(domain)
  const found = aboutAuthentication(state)
  const critical = found.filter(
    ({ code, severity }) => severity === 'critical' && code !== 'from_not_aligned',
  )
  const policy = dkim.state === 'ok' ? '' : aboutPolicy(dmarc.facts.policy)
  const reasons = [...critical.map(({ message }) => message), policy].filter(Boolean)
  return [
    ...warnIf(critical.length > 0, 'domain_not_authenticated', reasons.join(' '), { param, action }),
    ...found
      .filter((one) => one.severity !== 'info' && !critical.includes(one))
      .map(({ code, message }) => ({ code: codeOf(code), message, param, action })),
  ]
}

/** A policy that receivers cannot use is none. */
const codeOf = (code: string) => (code.startsWith('dmarc_') ? 'dmarc_missing' : code)

async function ofUndeclared({ dns, spf: senders }: DnsNeeds, domain: string): Promise<Warning[]> {
  const [spf, dmarc] = await withinLook(dns, (within) =>
    Promise.all([readSpf(within, { domain, ...senders }), readDmarc(within, domain)]),
  )
  // SPF may still speak for it, unless the policy asks for more; what DNS does not answer for says nothing.
  const reasons = [says(spf.state) ? spf.explanation : '', aboutPolicy(dmarc.policy)].filter(Boolean)
  const message = [aboutUndeclared(domain), ...reasons].join(' ')
  const action = declaring(domain)
  return [
    ...warnIf(reasons.length > 0, 'domain_not_authenticated', message, { param, action }),
    ...warnIf(says(dmarc.state), 'dmarc_missing', dmarc.explanation, { param }),
  ]
}

/** RFC 9989 §7.4: such a policy must not rest on SPF alone, which forwarding breaks. */
function aboutPolicy(policy: string | null | undefined): string {
  if (policy !== 'reject' && policy !== 'quarantine') return ''
  return `Its DMARC policy is ${policy}, which SPF alone does not carry: without DKIM messages are lost.`
}

const verifying = (domain: string): Action => ({
  operation: 'domain.verify',
  method: 'POST',
  path: '/api/v1/domains/verify',
  scope: 'domain.write',
  body: { domain },
})

/** A server that fails or stays silent has not said that something is wrong. */
export const says = (state: State) => state !== 'ok' && state !== 'unreadable'
