// One verdict over all that stands between the account and the inbox, from what is stored and counted already.
import type { Ctx } from '../../kernel/ctx.ts'
import { notFound } from '../../kernel/refusals.ts'
import { declaring } from '../domains/declarable.ts'
import { findDomains } from '../domains/domain-states.ts'
import { readName } from '../domains/name.ts'
import { findAuthentication } from './authentication.ts'
import { type Finding, severities, windowDays } from './finding.ts'
import { firstSteps } from './first-steps.ts'
import { findOrigins } from './origins.ts'
import { findReputation } from './reputation.ts'
import { findSetUp, type Surroundings } from './set-up.ts'

const dayMs = 86_400_000

export async function diagnose(ctx: Ctx, around: Surroundings, asked: string | undefined) {
  const domains = await findDomains(ctx.db, ctx.caller.accountId)
  const only = asked === undefined ? undefined : readName(asked)
  if (only !== undefined && !domains.some(({ domain }) => domain === only))
    throw notFound({
      message: `${only} is not declared on this account.`,
      action: declaring(only),
    })
  const days = daysUntil(ctx.now)
  const found = [
    ...(await findAuthentication(ctx, { domains, first: days.first })),
    ...(await findReputation(ctx, days)),
    ...(await findOrigins(ctx, days)),
    ...(await findSetUp(ctx, around, domains)),
  ]
  const findings = bySeverity(found.filter(({ domain }) => !only || domain === null || domain === only))
  return {
    verdict: verdictOf(findings),
    findings,
    first_steps: await firstSteps(ctx, around, domains),
    window_days: windowDays,
  }
}

function daysUntil(now: Date) {
  const day = (back: number) => new Date(now.getTime() - back * dayMs).toISOString().slice(0, 10)
  return { first: day(windowDays - 1), last: day(0) }
}

/** The worst first, otherwise in their order. */
function bySeverity(findings: Finding[]): Finding[] {
  return [...findings].sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))
}

function verdictOf(findings: Finding[]): 'good' | 'attention' | 'critical' {
  if (findings.some(({ severity }) => severity === 'critical')) return 'critical'
  return findings.some(({ severity }) => severity === 'warning') ? 'attention' : 'good'
}
